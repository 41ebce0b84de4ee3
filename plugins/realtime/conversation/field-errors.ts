/** Errors of the fields of an event, with OpenAI's codes. */

import { type ConversationError, invalidRequestError } from '../../../src/conversation/events/errors.ts';
import type { FieldErrors } from '../session/fields.ts';

/** A client that sends many invalid fields receives the first errors. */
const MAX_ERRORS = 16;

export class ConversationFieldErrors implements FieldErrors {
  readonly all: ConversationError[] = [];
  readonly #unknownFields: 'rejected' | 'ignored';

  constructor(unknownFields: 'rejected' | 'ignored' = 'rejected') {
    this.#unknownFields = unknownFields;
  }

  invalid(path: string, problem: string): void {
    this.#add(invalidRequestError('invalid_value', `'${path}' ${problem}.`, path));
  }

  unsupported(path: string, problem: string): void {
    this.#add(invalidRequestError('unsupported_feature', `'${path}' ${problem}.`, path));
  }

  unknown(path: string, siblings: readonly string[]): void {
    if (this.#unknownFields === 'ignored') return;
    const message = `'${path}' is an unknown field; allowed: ${siblings.join(', ')}.`;
    this.#add(invalidRequestError('unknown_parameter', message, path));
  }

  cannotUpdateVoice(path: string): void {
    const message = "Cannot update a conversation's voice if assistant audio is present.";
    this.#add(invalidRequestError('cannot_update_voice', message, path));
  }

  /** Reports a failure of the server. */
  failed(path: string, problem: string): void {
    this.#add({
      type: 'server_error',
      code: 'server_error',
      message: `'${path}' ${problem}.`,
      param: path,
    });
  }

  #add(error: ConversationError): void {
    if (this.all.length < MAX_ERRORS) this.all.push(error);
  }
}
