/** Errors of a conversation. Codes and some texts are those of OpenAI, because clients depend on them. */

import { type ErrorKind, ServiceError } from '../../contract/core/error.ts';
import type { ConversationEvent, ErrorBody } from './server-events.ts';

export interface ConversationError extends ErrorBody {
  /** Dotted name of the field; null if the error concerns the whole event. */
  readonly param: string | null;
}

/** Creates the error of an event that is not valid in the current state. */
export function invalidRequestError(
  code: string,
  message: string,
  param: string | null = null,
): ConversationError {
  return { type: 'invalid_request_error', code, message, param };
}

/** @param eventId `event_id` of the rejected client event; clients wait for it. */
export function errorEvent(error: ConversationError, eventId: string | null): ConversationEvent {
  const { type, code, message, param } = error;
  return { type: 'error', error: { type, code, message, param, event_id: eventId } };
}

const TYPES: Readonly<Partial<Record<ErrorKind, ErrorBody['type']>>> = {
  invalid_request: 'invalid_request_error',
  insufficient_quota: 'insufficient_quota',
  rate_limited: 'rate_limit_error',
};

/**
 * Converts the error of a part of the pipeline. Only the messages of {@link ServiceError} contain no private text; any other
 * error becomes a generic one.
 */
export function toErrorBody(error: unknown): ErrorBody {
  if (!(error instanceof ServiceError)) {
    return { type: 'server_error', code: 'server_error', message: 'Internal server error.' };
  }
  const { kind, code, message } = error;
  return { type: TYPES[kind] ?? 'server_error', code: code ?? 'server_error', message };
}
