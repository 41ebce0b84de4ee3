/** JSON bodies of the text endpoints. */

import { invalidRequest } from '../../../src/contract/core/error.ts';

/** Creates a response with a JSON text as its body. */
export function jsonText(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

/** Rejects unsupported fields, if they are present. */
export function rejectFields(
  fields: Readonly<Record<string, unknown>>,
  names: readonly string[],
  why: string,
): void {
  const name = names.find((each) => Object.hasOwn(fields, each));
  if (name !== undefined) throw invalidRequest(`'${name}' ${why}.`, name, 'unsupported_parameter');
}
