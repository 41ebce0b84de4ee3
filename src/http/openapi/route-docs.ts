/** Building blocks for the documentation of routes. */

import { type TSchema, Type } from '@sinclair/typebox';
import type { IntegerRule } from '../request/query.ts';
import { nullableFields } from './nullable-fields.ts';
import { ErrorSchema } from './schemas.ts';

/** A schema as plain JSON, without TypeBox's symbols. */
export function toPlainSchema(schema: object) {
  return JSON.parse(JSON.stringify(schema));
}

/** Schema of a JSON request body in which null means absent. */
export function jsonBody(schema: object) {
  return nullableFields(toPlainSchema(schema));
}

/** A JSON response. */
export function jsonResponse(description: string, schema: object) {
  return { description, content: { 'application/json': { schema } } };
}

/** An error response. */
export function errorResponse(description: string) {
  return jsonResponse(description, ErrorSchema);
}

/** Description of errors that need no explanation. */
export const ANY_ERROR = 'The body of every error response.';

/** Documentation of a public route whose response is not JSON. */
export function publicPage(summary: string, contentType: string, about = '') {
  const content = { [contentType]: { schema: { type: 'string' as const } } };
  const description = `${about} No API key is needed.`.trim();
  const responses = { 200: { description: summary, content } };
  return { summary, description, tag: 'service', isPublic: true, responses } as const;
}

/** A binary response with one of these content types. */
export function binaryContent(...types: readonly string[]) {
  const schema = { type: 'string' as const, format: 'binary' };
  return { content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

/** An id in the path. Swagger UI would prefill an `example`, so the example is only part of the description. */
export function idParameter(name: string, example: string) {
  const description = `An id such as \`${example}\`.`;
  return { name, in: 'path' as const, required: true, schema: { type: 'string' as const }, description };
}

/** A parameter of the path whose example Swagger UI prefills. */
export function pathParameter(name: string, description: string, example: string) {
  return { name, in: 'path' as const, required: true, schema: { type: 'string', example }, description };
}

export function queryParameter(name: string, schema: object, description: string) {
  return { name, in: 'query' as const, required: false, schema, description };
}

export function headerParameter(
  name: string,
  description: string,
  more: { schema?: object; example?: string } = {},
) {
  return { name, in: 'header' as const, required: false, schema: { type: 'string' }, description, ...more };
}

/** @param effect the effect of repeating a request with the same key. */
export function idempotencyKey(effect: string) {
  // Printable ASCII; HTTP removes spaces around the value, so a key of spaces would be empty.
  const schema = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]*[!-~][ -~]*$' };
  return headerParameter('Idempotency-Key', effect, { schema });
}

/** Pagination parameters of a list. @param of plural noun of the list's entries. */
export function pageQuery(of: string, { minimum, maximum, fallback }: IntegerRule) {
  return [
    queryParameter(
      'limit',
      { type: 'integer', minimum, maximum, default: fallback },
      `Max. number of ${of} per page.`,
    ),
    queryParameter(
      'order',
      { type: 'string', enum: ['asc', 'desc'], default: 'desc' },
      'Sort order by creation time.',
    ),
    queryParameter(
      'after',
      { type: 'string' },
      `Id of the last entry of the previous page. If empty, the first page of ${of} is returned.`,
    ),
  ];
}

/** Schema of a page of a list. @param example an example id. */
export function pageOf(Item: TSchema, example: string) {
  const id = Type.Union([Type.String(), Type.Null()], { examples: [example] });
  return Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(Item),
      first_id: id,
      last_id: id,
      has_more: Type.Boolean(),
    },
    Item.title === undefined ? {} : { title: `${Item.title} page` },
  );
}

/** Schema of the response to a deletion. */
export function deletionSchema(object: string, example: string) {
  return Type.Object({
    id: Type.String({ examples: [example] }),
    object: Type.Literal(object),
    deleted: Type.Literal(true),
  });
}

/** Request headers for ranges and revalidation. */
export const CONTENT_HEADERS = [
  headerParameter('Range', 'One byte range. With several ranges, all bytes are returned.', {
    example: 'bytes=0-1023',
  }),
  headerParameter(
    'If-None-Match',
    'Entity tags of cached content, or `*`. The response header `etag` contains the tag.',
  ),
];

/** Responses of a content route with these content types, including those to {@link CONTENT_HEADERS}. */
export function contentResponses(...types: readonly string[]) {
  const bytes = binaryContent(...types);
  return {
    200: { description: 'All bytes', ...bytes },
    206: { description: 'The requested range; `content-range` contains its position', ...bytes },
    304: { description: 'Not modified: `If-None-Match` contains the current tag' },
    416: 'The range starts after the last byte; `content-range` contains the length',
  };
}

/** Error responses of every route that processes a form. */
export const WORK_FAILURES = {
  400: 'Missing or invalid field; `param` is its name',
  429: 'Concurrency limit of the organization reached; retry after `retry-after` seconds',
  503: 'Server overloaded; retry after `retry-after` seconds',
} as const;
