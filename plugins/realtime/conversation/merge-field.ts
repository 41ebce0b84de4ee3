/** Merging of one field: an omitted field keeps its value, null means the default. */

import type { SentField } from '../session/fields.ts';

/**
 * @param prior the value if the field was omitted.
 * @param initial the value if the field is null.
 * @param parse parses any other value.
 */
export function mergeField<Value>(
  sent: SentField | undefined,
  prior: Value,
  initial: Value,
  parse: (sent: SentField) => Value,
): Value {
  if (sent === undefined) return prior;
  return sent.value === null ? initial : parse(sent);
}

/** A group of fields that is null has no fields. */
export function nonNull(sent: SentField | undefined): SentField | undefined {
  return sent?.value === null ? undefined : sent;
}
