/** Parsing and formatting of JSON for display. */

/** Parses JSON; returns an error message for invalid input. */
export function readJson(text: string): { readonly value: unknown } | { readonly error: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: error instanceof Error ? `Invalid JSON: ${error.message}.` : 'Invalid JSON.' };
  }
}

/** Formats JSON with indentation; returns other texts unchanged. */
export function formatJson(text: string): string {
  const read = readJson(text);
  return 'error' in read ? text : JSON.stringify(read.value, null, 2);
}

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
