/** Accessors for untrusted JSON values of upstream servers. */

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; an empty object for other values. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** The elements of an array as objects; an empty array for other values. */
export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

/** The string; an empty string for other values. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
