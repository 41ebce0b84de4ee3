/** Bodies of the text family. */

import { invalidRequest } from '../../../src/contract/core/error.ts';

/** An answer whose body is this JSON text. */
export function jsonAnswer(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

/** Refuses fields that this service has not, when they are there. */
export function refuseFields(
  fields: Readonly<Record<string, unknown>>,
  names: readonly string[],
  why: string,
): void {
  const name = names.find((each) => Object.hasOwn(fields, each));
  if (name !== undefined) throw invalidRequest(`'${name}' ${why}.`, name, 'unsupported_parameter');
}
