/** The rules of an input file (spec 2.2 and 8; openai-wire 3.2), fed line by line. */

import { isUtf8 } from 'node:buffer';
import { OPERATION_URLS, type OperationUrl } from '../../../../src/contract/engines/operation.ts';
import type { BatchFault } from '../../../../src/contract/stores/batch-store.ts';
import { INPUT_FILE_BYTES } from '../../../../src/contract/stores/file-store.ts';
import { codePoints } from '../../../../src/kit/validation/code-points.ts';
import { isRecord } from '../../../../src/kit/validation/is-record.ts';
import { jsonLimitViolation, MAX_JSON_LEVELS } from '../../../../src/kit/validation/json-limits.ts';
import { isNestedWithin } from '../../../../src/kit/validation/nesting.ts';
import type { InputLine } from '../line-splitter.ts';
import { decodeUtf8 } from '../utf8.ts';
import { SeenIds } from './duplicate-ids.ts';

/** Spec 8. */
export const MAX_REQUESTS = 50_000;
/** Faults that are listed; after so many the rest of the file is not looked at. */
export const MAX_ERRORS = 100;
/** Characters of a `custom_id`. */
export const MAX_ID_CHARACTERS = 512;
/** Characters of a model's name, which is kept with the batch. */
export const MAX_MODEL_CHARACTERS = 256;
/** Shorter than any line with too many parts (src/kit/validation/json-limits.ts). */
const SHORT_LINE_BYTES = 32 * 1024;
/** Characters of a file's own words that a message repeats. */
const QUOTED_CHARACTERS = 100;

export interface ValidationRules {
  /** Which the batch names: all lines must. */
  readonly endpoint: OperationUrl;
  /** A line may be as long as the body of a request. */
  readonly maxLineBytes: number;
}

/** What a check found: nothing wrong, or what. */
export type ValidationResult =
  | { readonly kind: 'valid'; readonly total: number; readonly model: string | undefined }
  | { readonly kind: 'invalid'; readonly errors: readonly BatchFault[] };

export class InputValidator {
  readonly #rules: ValidationRules;
  readonly #errors: BatchFault[] = [];
  readonly #ids = new SeenIds(MAX_REQUESTS);
  #total = 0;
  #bytes = 0;
  #model: string | undefined;
  #hasOneModel = true;
  #isDecided = false;

  constructor(rules: ValidationRules) {
    this.#rules = rules;
  }

  /** Whether what follows cannot change the verdict. */
  get isDecided(): boolean {
    return this.#isDecided;
  }

  /** Counts bytes of the file, before their lines. */
  addBytes(lengthBytes: number): void {
    this.#bytes += lengthBytes;
    if (this.#bytes <= INPUT_FILE_BYTES) return;
    const message = `The input file may have at most ${INPUT_FILE_BYTES} bytes.`;
    this.#addError({ code: 'file_too_large', message, param: null, line: null });
    this.#isDecided = true;
  }

  addLine({ number, bytes }: InputLine): void {
    if (this.#isDecided) return;
    this.#total += 1;
    if (this.#total > MAX_REQUESTS) {
      const message = `A batch may have at most ${MAX_REQUESTS} requests, one a line.`;
      this.#addError({ code: 'too_many_requests', message, param: null, line: number });
      this.#isDecided = true;
    } else if (bytes === undefined) {
      const message = `A line may have at most ${this.#rules.maxLineBytes} bytes, as many as the body of a request.`;
      this.#addError({ code: 'line_too_long', message, param: null, line: number });
    } else this.#validateText(bytes, number);
  }

  /** To be asked once, after the last line. */
  result(): ValidationResult {
    if (this.#total === 0 && this.#errors.length === 0) {
      const message = 'The input file holds no request. It must have one JSON object a line.';
      this.#addError({ code: 'empty_file', message, param: null, line: null });
    }
    if (this.#errors.length > 0) return { kind: 'invalid', errors: this.#errors };
    return { kind: 'valid', total: this.#total, model: this.#hasOneModel ? this.#model : undefined };
  }

  #addError(error: BatchFault): void {
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(error);
    if (this.#errors.length === MAX_ERRORS) this.#isDecided = true;
  }

  #validateText(bytes: Uint8Array<ArrayBuffer>, number: number): void {
    // Whoever runs the line parses it while others are served. A short one can only be nested too deep, which its
    // value tells faster than its bytes.
    const isShort = bytes.length <= SHORT_LINE_BYTES;
    let excess = isShort ? undefined : jsonLimitViolation(bytes);
    const line = excess === undefined ? parsed(bytes) : undefined;
    if (isShort && !(isRecord(line) && isNestedWithin(line, MAX_JSON_LEVELS)))
      excess = jsonLimitViolation(bytes);
    if (excess !== undefined) {
      this.#addError({
        code: 'line_too_complex',
        message: `A line ${excess}.`,
        param: null,
        line: number,
      });
    } else if (isRecord(line)) this.#validateFields(line, number);
    else {
      const message = 'This line is no JSON object in UTF-8. Each line must be one.';
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
        "'custom_id' is missing. Each line must have one of its own.",
      );
    } else if (typeof id !== 'string') {
      addError('invalid_type', 'custom_id', "'custom_id' must be a string.");
    } else if (!hasValidIdLength(id)) {
      const message = `'custom_id' must be a string of 1 to ${MAX_ID_CHARACTERS} characters.`;
      addError('invalid_value', 'custom_id', message);
    } else if (!this.#ids.add(id)) {
      addError(
        'duplicate_custom_id',
        'custom_id',
        "An earlier line has the same 'custom_id'. Each must be unique.",
      );
    }

    if (method !== undefined && typeof method !== 'string') {
      addError('invalid_type', 'method', "'method' must be a string.");
    } else if (method !== undefined && method !== 'POST') {
      addError('invalid_method', 'method', "'method' must be 'POST', or left out.");
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
        "'body' is missing. It must be the JSON object of the request.",
      );
    } else if (!isRecord(body)) {
      addError('invalid_type', 'body', "'body' must be a JSON object.");
    } else if (body.model === undefined) {
      addError(
        'missing_required_parameter',
        'body.model',
        "'body.model' is missing. Each request must name its model.",
      );
    } else if (typeof body.model !== 'string') {
      addError('invalid_type', 'body.model', "'body.model' must be a string.");
    } else if (body.model.length > MAX_MODEL_CHARACTERS) {
      const message = `'body.model' may have at most ${MAX_MODEL_CHARACTERS} characters.`;
      addError('invalid_value', 'body.model', message);
    } else this.#countModel(body.model);
  }

  #countModel(model: string): void {
    this.#model ??= model;
    if (model !== this.#model) this.#hasOneModel = false;
  }
}

/** Undefined for what is no JSON in UTF-8. */
function parsed(bytes: Uint8Array<ArrayBuffer>): unknown {
  const text = decodeUtf8(bytes);
  // Decoding puts this character in the place of what is no UTF-8; the file may also hold it by itself.
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
    ? `'url' is '${quoted}', but the batch is for '${endpoint}'. All lines must target the batch's endpoint.`
    : `'url' is '${quoted}', which no batch may target; this batch is for '${endpoint}'.`;
}
