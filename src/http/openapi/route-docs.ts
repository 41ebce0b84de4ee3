/** What the documentation of hand-checked routes is made of. */

import { type TSchema, Type } from '@sinclair/typebox';
import { nullableFields } from './nullable-fields.ts';
import { ErrorSchema } from './schemas.ts';

/** The JSON of a schema, without the symbols that TypeBox keeps in it. */
export function plain(schema: object) {
  return JSON.parse(JSON.stringify(schema));
}

/** A JSON request body in which null means absent. */
export function jsonBody(schema: object) {
  return nullableFields(plain(schema));
}

/** An answer in JSON. */
export function json(description: string, schema: object) {
  return { description, content: { 'application/json': { schema: plain(schema) } } };
}

/** The answer of a failed request. */
export function failure(description: string) {
  return json(description, ErrorSchema);
}

/** Of what is downloaded: one that names its type. */
export function binary(...types: readonly string[]) {
  const schema = { type: 'string' as const, format: 'binary' };
  return { content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

/** An id in the path. Swagger fills an example in, so this only tells what such an id looks like. */
export function pathId(name: string, example: string) {
  const description = `An id such as \`${example}\`.`;
  return { name, in: 'path' as const, required: true, schema: { type: 'string' as const }, description };
}

export function query(name: string, schema: object, description: string) {
  return { name, in: 'query' as const, required: false, schema, description };
}

export function header(name: string, description: string, more: { schema?: object; example?: string } = {}) {
  return { name, in: 'header' as const, required: false, schema: { type: 'string' }, description, ...more };
}

/** @param effect what the same key with the same request does. */
export function idempotencyKey(effect: string) {
  const schema = { type: 'string', minLength: 1, maxLength: 255 };
  return header('Idempotency-Key', effect, { schema });
}

/** What tells how a list is cut into pages; `of` is the plural of what is listed. */
export function pageQuery(of: string, [minimum, maximum, byDefault]: readonly [number, number, number]) {
  return [
    query('limit', { type: 'integer', minimum, maximum, default: byDefault }, `Most ${of} of a page.`),
    query('order', { type: 'string', enum: ['asc', 'desc'], default: 'desc' }, 'By the time of creation.'),
    query(
      'after',
      { type: 'string' },
      `Id of the last of the ${of} of the previous page; empty: the first page.`,
    ),
  ];
}

/** A page of a list. @param example an id. */
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

/** What a deletion answers. */
export function deleted(object: string, example: string) {
  return Type.Object({
    id: Type.String({ examples: [example] }),
    object: Type.Literal(object),
    deleted: Type.Literal(true),
  });
}

/** Headers that ask for a part of a content, or for none. */
export const CONTENT_HEADERS = [
  header('Range', 'One range of bytes. Several are answered with all bytes.', { example: 'bytes=0-1023' }),
  header('If-None-Match', 'Entity tags of what the client has, or `*`. The tag of a content is in `etag`.'),
];

/** Answers of a content of such types, to the headers above too. */
export function contentAnswers(...types: readonly string[]) {
  const bytes = binary(...types);
  return {
    200: { description: 'All bytes', ...bytes },
    206: { description: 'The bytes of the range; `content-range` says which', ...bytes },
    304: { description: 'The client has it: `If-None-Match` names its tag' },
    416: failure('The range begins behind the last byte; `content-range` says how many there are'),
  };
}

/** Failures of every route that does work by a form. */
export const WORK_FAILURES = {
  400: failure('A field is missing or not allowed; `param` names it'),
  401: failure('No key, or a wrong one'),
  413: failure('The body is too large'),
  429: failure('The organization has too many requests open; `retry-after` says when to try again'),
  503: failure('Too much work at once; `retry-after` says when to try again'),
} as const;
