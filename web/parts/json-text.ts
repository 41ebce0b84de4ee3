/** JSON that somebody wrote, or that was written for somebody to read. */

/** JSON, or why it is none, in words. */
export function readJson(text: string): { readonly value: unknown } | { readonly fault: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { fault: error instanceof Error ? `This is not JSON: ${error.message}.` : 'This is not JSON.' };
  }
}

/** JSON laid out to be read; a text that is none as it is. */
export function laidOut(text: string): string {
  const read = readJson(text);
  return 'fault' in read ? text : JSON.stringify(read.value, null, 2);
}

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
