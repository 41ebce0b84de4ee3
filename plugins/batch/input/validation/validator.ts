/** Validates an input file line by line (spec 2.2 and 8; openai-wire 3.2). */

import { isUtf8 } from 'node:buffer';
import { OPERATION_URLS, type OperationUrl } from '../../../../src/contract/engines/operation.ts';
import type { BatchError } from '../../../../src/contract/stores/batch-store.ts';
import { MAX_INPUT_FILE_BYTES } from '../../../../src/contract/stores/file-store.ts';
import { codePoints } from '../../../../src/kit/validation/code-points.ts';
import { isRecord } from '../../../../src/kit/validation/is-record.ts';
import { jsonLimitViolation, MAX_JSON_LEVELS } from '../../../../src/kit/validation/json-limits.ts';
import { isNestedWithin } from '../../../../src/kit/validation/nesting.ts';
import type { InputLine } from '../line-splitter.ts';
import { decodeUtf8 } from '../utf8.ts';
import { SeenIds } from './duplicate-ids.ts';

/** Maximum number of requests per batch (spec 8). */
export const MAX_REQUESTS = 50_000;
/** Maximum number of reported errors. Validation stops when it is reached. */
export const MAX_ERRORS = 100;
/** Maximum length of a `custom_id`, in characters. */
export const MAX_ID_CHARACTERS = 512;
/** Maximum length of a model id, in characters. The id is stored with the batch. */
export const MAX_MODEL_CHARACTERS = 256;
/** In bytes. A shorter line cannot exceed the value limits (src/kit/validation/json-limits.ts). */
const SHORT_LINE_BYTES = 32 * 1024;
/** Maximum number of characters of the input that a message quotes. */
const QUOTED_CHARACTERS = 100;

export interface ValidationRules {
  /** Endpoint of the batch. The `url` of every line must be equal. */
  readonly endpoint: OperationUrl;
  /** Maximum length of a line, in bytes: the maximum length of a request body. */
  readonly maxLineBytes: number;
}

/** The result of a validation. `model` is set if all lines name the same model. */
export type ValidationResult =
  | { readonly kind: 'valid'; readonly total: number; readonly model: string | undefined }
  | { readonly kind: 'invalid'; readonly errors: readonly BatchError[] };

export class InputValidator {
  readonly #rules: ValidationRules;
  readonly #errors: BatchError[] = [];
  readonly #ids = new SeenIds(MAX_REQUESTS);
  #total = 0;
  #bytes = 0;
  #model: string | undefined;
  #hasOneModel = true;
  #isDecided = false;

  constructor(rules: ValidationRules) {
    this.#rules = rules;
  }

  /** Whether the remaining input cannot change the result. */
  get isDecided(): boolean {
    return this.#isDecided;
  }

  /** Counts bytes of the file. Called before their lines are added. */
  addBytes(lengthBytes: number): void {
    this.#bytes += lengthBytes;
    if (this.#bytes <= MAX_INPUT_FILE_BYTES) return;
    const message = `The input file must be at most ${MAX_INPUT_FILE_BYTES} bytes.`;
    this.#addError({ code: 'file_too_large', message, param: null, line: null });
    this.#isDecided = true;
  }

  addLine({ number, bytes }: InputLine): void {
    if (this.#isDecided) return;
    this.#total += 1;
    if (this.#total > MAX_REQUESTS) {
      const message = `A batch can contain at most ${MAX_REQUESTS} requests, one per line.`;
      this.#addError({ code: 'too_many_requests', message, param: null, line: number });
      this.#isDecided = true;
    } else if (bytes === undefined) {
      const message = `A line must be at most ${this.#rules.maxLineBytes} bytes, the maximum size of a request body.`;
      this.#addError({ code: 'line_too_long', message, param: null, line: number });
    } else this.#validateText(bytes, number);
  }

  /** The result. Must be called once, after the last line. */
  result(): ValidationResult {
    if (this.#total === 0 && this.#errors.length === 0) {
      const message = 'The input file contains no requests. It must contain one JSON object per line.';
      this.#addError({ code: 'empty_file', message, param: null, line: null });
    }
    if (this.#errors.length > 0) return { kind: 'invalid', errors: this.#errors };
    return { kind: 'valid', total: this.#total, model: this.#hasOneModel ? this.#model : undefined };
  }

  #addError(error: BatchError): void {
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(error);
    if (this.#errors.length === MAX_ERRORS) this.#isDecided = true;
  }

  #validateText(bytes: Uint8Array<ArrayBuffer>, number: number): void {
    // The runner parses the line in the serving process, so its complexity is limited. A short line can only exceed the
    // nesting limit, which is cheaper to check on the parsed value than on the bytes.
    const isShort = bytes.length <= SHORT_LINE_BYTES;
    let excess = isShort ? undefined : jsonLimitViolation(bytes);
    const line = excess === undefined ? parsed(bytes) : undefined;
    if (isShort && !(isRecord(line) && isNestedWithin(line, MAX_JSON_LEVELS)))
      excess = jsonLimitViolation(bytes);
    if (excess !== undefined) {
      this.#addError({
        code: 'line_too_complex',
        message: `The line ${excess}.`,
        param: null,
        line: number,
      });
    } else if (isRecord(line)) this.#validateFields(line, number);
    else {
      const message = 'Line is not a UTF-8 JSON object.';
      this.#addError({ code: 'invalid_json_line', message, param: null, line: number });
    }
  }

  #validateFields(line: Readonly<Record<string, unknown>>, number: number): void {
    const addError = (code: string, param: string, message: string) =>
      this.#addError({ code, message, param, line: number });
    const { custom_id: id, method, url, body } = line;
    const { endpoint } = this.#rules;
    if (id === undefined) {
      addError(
        'missing_required_parameter',
        'custom_id',
        "'custom_id' is missing. Each line must have a unique 'custom_id'.",
      );
    } else if (typeof id !== 'string') {
      addError('invalid_type', 'custom_id', "'custom_id' must be a string.");
    } else if (!hasValidIdLength(id)) {
      const message = `'custom_id' must have 1 to ${MAX_ID_CHARACTERS} characters.`;
      addError('invalid_value', 'custom_id', message);
    } else if (!this.#ids.add(id)) {
      addError(
        'duplicate_custom_id',
        'custom_id',
        "The 'custom_id' is already used by an earlier line. It must be unique.",
      );
    }

    if (method !== undefined && typeof method !== 'string') {
      addError('invalid_type', 'method', "'method' must be a string.");
    } else if (method !== undefined && method !== 'POST') {
      addError('invalid_method', 'method', "'method' must be 'POST' or omitted.");
    }

    if (url !== undefined && typeof url !== 'string') {
      addError('invalid_type', 'url', "'url' must be a string.");
    } else if (url !== undefined && url !== endpoint) {
      addError('invalid_url', 'url', urlMessage(url, endpoint));
    }

    if (body === undefined) {
      addError(
        'missing_required_parameter',
        'body',
        "'body' is missing. It must be the request as a JSON object.",
      );
    } else if (!isRecord(body)) {
      addError('invalid_type', 'body', "'body' must be a JSON object.");
    } else if (body.model === undefined) {
      addError(
        'missing_required_parameter',
        'body.model',
        "'body.model' is missing. Each request must name a model.",
      );
    } else if (typeof body.model !== 'string') {
      addError('invalid_type', 'body.model', "'body.model' must be a string.");
    } else if (body.model.length > MAX_MODEL_CHARACTERS) {
      const message = `'body.model' must have at most ${MAX_MODEL_CHARACTERS} characters.`;
      addError('invalid_value', 'body.model', message);
    } else this.#countModel(body.model);
  }

  #countModel(model: string): void {
    this.#model ??= model;
    if (model !== this.#model) this.#hasOneModel = false;
  }
}

/** Parses UTF-8 JSON. Returns undefined if the bytes are not valid. */
function parsed(bytes: Uint8Array<ArrayBuffer>): unknown {
  const text = decodeUtf8(bytes);
  // The decoder substitutes U+FFFD for invalid bytes, but the file may also contain this character.
  if (text.includes('\ufffd') && !isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasValidIdLength(id: string): boolean {
  if (id === '') return false;
  return (
    id.length <= MAX_ID_CHARACTERS ||
    (id.length <= 2 * MAX_ID_CHARACTERS && codePoints(id) <= MAX_ID_CHARACTERS)
  );
}

function urlMessage(url: string, endpoint: OperationUrl): string {
  const isSupported = OPERATION_URLS.some((known) => known === url);
  const quoted = url.slice(0, QUOTED_CHARACTERS);
  return isSupported
    ? `'url' is '${quoted}', but the endpoint of the batch is '${endpoint}'. All lines must use this endpoint.`
    : `'url' is '${quoted}', which is not supported in batches; the endpoint of this batch is '${endpoint}'.`;
}
