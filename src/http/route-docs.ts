/** What the documentation of hand-checked routes is made of. */

import { ErrorSchema } from './schemas.ts';

/** The JSON of a schema, without the symbols that TypeBox keeps in it. */
export function plain(schema: object) {
  return JSON.parse(JSON.stringify(schema));
}

/** The answer of a failed request. */
export function failure(description: string) {
  return { description, content: { 'application/json': { schema: plain(ErrorSchema) } } };
}

/** Failures of every route that does work by a form. */
export const WORK_FAILURES = {
  400: failure('A field is missing or not allowed; `param` names it'),
  401: failure('No key, or a wrong one'),
  413: failure('The body is too large'),
  429: failure('The organization has too many requests open; `retry-after` says when to try again'),
  503: failure('Too much work at once; `retry-after` says when to try again'),
} as const;
