import type { TSchema } from '@sinclair/typebox';
import {
  CONTENT_HEADERS,
  contentResponses,
  deletionSchema,
  idParameter,
  jsonResponse,
  pageOf,
} from './openapi/route-docs.ts';

/** A kind of objects that clients store, such as files. */
export interface ObjectKind<Path extends string, Id extends string> {
  /** Its name in texts, such as `file`. */
  readonly noun: string;
  readonly tag: string;
  /** Path of the list; the path of an object is below it. */
  readonly path: Path;
  /** Name of the id in paths. */
  readonly id: Id;
  /** An id. */
  readonly example: string;
  readonly schema: TSchema;
  /** `object` of the response to a deletion. */
  readonly deleted: string;
}

/**
 * What the routes of stored objects have in common: path, summary and responses. A route adds its description and its handler,
 * and replaces what differs.
 */
export function storedObject<const Path extends string, const Id extends string>({
  noun,
  tag,
  path,
  id,
  example,
  schema,
  deleted,
}: ObjectKind<Path, Id>) {
  const one = { tag, path: `${path}/:${id}`, pathParameters: [idParameter(id, example)] } as const;
  const busy = { 503: `The ${noun} storage is unavailable; retry after \`retry-after\` seconds` };
  const failures = {
    400: 'The path is not percent-encoded UTF-8',
    404: `The ${noun} does not exist or belongs to another organization`,
    ...busy,
  };
  return {
    list: {
      method: 'GET',
      path,
      tag,
      summary: `List ${noun}s`,
      responses: {
        200: jsonResponse(`A page of ${noun}s`, pageOf(schema, example)),
        400: 'A parameter is invalid; `param` names it',
        ...busy,
      },
    },
    retrieve: {
      method: 'GET',
      ...one,
      summary: `Retrieve a ${noun}`,
      responses: { 200: jsonResponse(`The ${noun}`, schema), ...failures },
    },
    remove: {
      method: 'DELETE',
      ...one,
      summary: `Delete a ${noun}`,
      responses: {
        200: jsonResponse(`The ${noun} is deleted`, deletionSchema(deleted, example)),
        ...failures,
      },
    },
    /** @param types content types. */
    download: (...types: readonly string[]) =>
      ({
        method: 'GET',
        ...one,
        summary: `Download a ${noun}`,
        headers: CONTENT_HEADERS,
        responses: { ...contentResponses(...types), ...failures },
      }) as const,
  } as const;
}
