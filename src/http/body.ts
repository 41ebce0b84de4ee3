import { invalidRequest, ServiceError } from '../contract/error.ts';

/** A multipart field: text, a file, a list of them, or fields named with brackets. */
export type FormValue = string | File | FormValue[] | FormFields;
export interface FormFields {
  [name: string]: FormValue;
}

const MAX_FIELDS = 1000;
const MAX_DEPTH = 8;
/** Characters of a field's name that an error repeats. */
const MAX_NAME = 100;

/**
 * Reads a request body by its content type: JSON gives its object, a multipart form an object in which
 * `a[b]` became nested and `a[]` a list (openai-wire 1.2); its scalars stay strings. No body gives null.
 * Bytes are counted while they arrive, so a body without a length is held to the limit too.
 * @throws ServiceError 413 over the limit, 415 for other types, 400 `invalid_json` and for broken forms.
 */
export async function readBody(request: Request, limitBytes: number): Promise<object | null> {
  refuseDeclaredLength(request.headers, limitBytes);
  const bytes = await readLimited(request.body, limitBytes);
  if (bytes.length === 0) return null;
  const contentType = request.headers.get('content-type') ?? '';
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return parseJson(bytes);
  if (mediaType === 'multipart/form-data') return formFields(await parseForm(bytes, contentType));
  throw new ServiceError(
    'unsupported_media_type',
    "The content type of the request body must be 'application/json' or 'multipart/form-data'.",
  );
}

/** @throws ServiceError 413 when the request announces more than `limitBytes`. */
export function refuseDeclaredLength(headers: Headers, limitBytes: number): void {
  if (Number(headers.get('content-length') ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

async function readLimited(
  body: ReadableStream<Uint8Array> | null,
  limitBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let lengthBytes = 0;
  for await (const chunk of body ?? []) {
    lengthBytes += chunk.length;
    if (lengthBytes > limitBytes) throw tooLarge(limitBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, lengthBytes);
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `The request body must be at most ${limitBytes} bytes.`, {
    code: 'payload_too_large',
  });
}

function parseJson(bytes: Uint8Array): object {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the body, which is private.
    throw invalidRequest('The request body is not valid JSON in UTF-8.', undefined, 'invalid_json');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidRequest('The request body must be a JSON object.', undefined, 'invalid_type');
}

async function parseForm(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<Iterable<[string, string | File]>> {
  try {
    const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
    return form.entries();
  } catch {
    throw invalidRequest('The request body is not a valid multipart form.');
  }
}

/** Form entries as an object without a prototype, so that no field name is special. */
function formFields(form: Iterable<[string, string | File]>): FormFields {
  const fields: FormFields = Object.create(null);
  let count = 0;
  for (const [name, value] of form) {
    count += 1;
    if (count > MAX_FIELDS) throw invalidRequest(`A form must have at most ${MAX_FIELDS} fields.`);
    place(fields, name, value);
  }
  return fields;
}

function place(root: FormFields, name: string, value: string | File): void {
  const path = name.replaceAll(']', '').split('[');
  if (path.length > MAX_DEPTH)
    throw invalidRequest(`A form field must be nested at most ${MAX_DEPTH} deep.`, name.slice(0, MAX_NAME));
  let owner = root;
  const isList = path.length > 1 && path.at(-1) === '';
  if (isList) path.pop();
  const last = path.pop() ?? '';
  for (const part of path) {
    owner[part] ??= Object.create(null) as FormFields;
    const next = owner[part];
    if (typeof next === 'string' || next instanceof File || Array.isArray(next)) throw clash(name);
    owner = next;
  }
  const present = owner[last];
  if (isList && Array.isArray(present)) present.push(value);
  else if (present !== undefined) throw clash(name);
  else owner[last] = isList ? [value] : value;
}

function clash(name: string): ServiceError {
  return invalidRequest(
    `The form field '${name.slice(0, MAX_NAME)}' is given more than once.`,
    name.slice(0, MAX_NAME),
    'invalid_value',
  );
}
