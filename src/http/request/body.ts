import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import type { ByteShare } from '../../kit/limits/byte-budget.ts';
import { jsonLimitViolation } from '../../kit/validation/json-limits.ts';
import { FormBuilder, MAX_FIELDS, tooManyFields } from './form-fields.ts';
import { LARGE_BODY_BYTES } from './parse-turns.ts';
import { BODY_UPLOAD_RATE, rateCheckedBody, type UploadRate } from './upload-rate.ts';

export interface BodyOptions {
  /** Minimum upload rate. */
  readonly pace?: UploadRate;
  /** Counts the bytes until the body is parsed; ended by {@link readBody}. */
  readonly share?: ByteShare;
  /** Runs the parsing of a large body in the turn of its sender. Default: immediately. */
  readonly inTurn?: <Result>(parse: () => Result | Promise<Result>) => Promise<Result>;
}

/**
 * Reads a request body into memory by its content type: the object of a JSON body, the fields of a multipart form (see
 * {@link FormBuilder}), or null for an empty body. Bytes are counted as they arrive, so the limit also applies to a body
 * without `content-length`. Forms with large files are read by `multipart.ts`.
 * @throws ServiceError 413 over the limit, 429 or 503 over the budget of all bodies, 408 below the minimum rate, 415 for other content types and compressed bodies,
 *   400 `invalid_json`, `invalid_value` if parsing would block the main thread ({@link jsonLimitViolation}), and for malformed
 *   forms.
 */
export async function readBody(
  request: Request,
  limitBytes: number,
  options: BodyOptions = {},
): Promise<object | null> {
  try {
    return await readParsed(request, limitBytes, options);
  } finally {
    options.share?.end();
  }
}

async function readParsed(
  request: Request,
  limitBytes: number,
  { pace = BODY_UPLOAD_RATE, share, inTurn = async (parse) => await parse() }: BodyOptions,
): Promise<object | null> {
  assertDeclaredLength(request.headers, limitBytes);
  assertNotEncoded(request.headers);
  const { chunks, lengthBytes } = await readLimited(rateCheckedBody(request, pace), limitBytes, share);
  if (lengthBytes === 0) return null;
  const parse = () => parseBody(Buffer.concat(chunks, lengthBytes), request.headers);
  return lengthBytes < LARGE_BODY_BYTES ? await parse() : await inTurn(parse);
}

async function parseBody(bytes: Uint8Array<ArrayBuffer>, headers: Headers): Promise<object> {
  const contentType = headers.get('content-type') ?? '';
  const mediaType = mediaTypeOf(contentType);
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return parseJson(bytes);
  if (mediaType === 'multipart/form-data') return parseForm(bytes, contentType);
  throw new ServiceError(
    'unsupported_media_type',
    "The content type of the request body must be 'application/json' or 'multipart/form-data'.",
  );
}

/** The media type of a `content-type` header without its parameters, in lower case. */
export function mediaTypeOf(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** @throws ServiceError 413 if `content-length` is greater than `limitBytes`. */
export function assertDeclaredLength(headers: Headers, limitBytes: number): void {
  if (Number(headers.get('content-length') ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/**
 * Compressed bodies are not accepted, because their length does not limit their decompressed size.
 * @throws ServiceError 415 for a content coding other than `identity`.
 */
export function assertNotEncoded(headers: Headers): void {
  const codings = headers.get('content-encoding')?.toLowerCase().split(',') ?? [];
  if (codings.every((coding) => ['', 'identity'].includes(coding.trim()))) return;
  const message = "'Content-Encoding' must be 'identity': compressed request bodies are not supported.";
  throw new ServiceError('unsupported_media_type', message, { param: 'Content-Encoding' });
}

async function readLimited(
  body: AsyncIterable<Uint8Array>,
  limitBytes: number,
  share: ByteShare | undefined,
): Promise<{ readonly chunks: readonly Uint8Array[]; readonly lengthBytes: number }> {
  const chunks: Uint8Array[] = [];
  let lengthBytes = 0;
  for await (const chunk of body) {
    lengthBytes += chunk.length;
    if (lengthBytes > limitBytes) throw tooLarge(limitBytes);
    share?.add(chunk.length);
    chunks.push(chunk);
  }
  return { chunks, lengthBytes };
}

/** The error for a body over the limit. */
export function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `The request body must be at most ${limitBytes} bytes.`, {
    code: 'payload_too_large',
  });
}

function parseJson(bytes: Uint8Array): object {
  const excess = jsonLimitViolation(bytes);
  if (excess !== undefined) throw invalidRequest(`The request body ${excess}.`, undefined, 'invalid_value');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The parser's message would quote the body, which is private.
    throw invalidRequest('The request body is not valid JSON in UTF-8.', undefined, 'invalid_json');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidRequest('The request body must be a JSON object.', undefined, 'invalid_type');
}

async function parseForm(bytes: Uint8Array<ArrayBuffer>, contentType: string): Promise<object> {
  const builder = new FormBuilder<File>();
  for (const [name, value] of await formEntries(bytes, contentType)) builder.add(name, value);
  return builder.fields;
}

async function formEntries(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<Iterable<[string, string | File]>> {
  assertPartCount(bytes, contentType);
  try {
    const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
    return form.entries();
  } catch {
    throw notAForm();
  }
}

/**
 * Counts the parts before parsing, because the parser blocks the main thread for two microseconds per part.
 * @throws ServiceError 400 for too many parts.
 */
function assertPartCount(bytes: Uint8Array, contentType: string): void {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? [];
  const boundary = `--${quoted ?? plain}`;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let count = 0;
  for (let at = body.indexOf(boundary); at >= 0; at = body.indexOf(boundary, at + boundary.length)) {
    count += 1;
    // The last boundary ends the form.
    if (count > MAX_FIELDS + 1) throw tooManyFields();
  }
}

/** The error for a malformed multipart body. */
export function notAForm(): ServiceError {
  return invalidRequest('The request body is not a valid multipart form.');
}
