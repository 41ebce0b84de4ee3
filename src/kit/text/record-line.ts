/** JSON records that end with the line: server-sent events, JSONL files and log lines. */

/**
 * Characters that JSON allows unescaped, but that some readers take for the end of a line: `str.splitlines` of Python and the
 * event readers built on it.
 */
const LINE_SEPARATORS = /[\u0085\u2028\u2029]/g;

/** Serializes a value in one line. */
export function toRecordLine(value: object): string {
  return asRecordLine(JSON.stringify(value));
}

/** Escapes the line separators of a JSON text without line breaks. They can only occur in its strings. */
export function asRecordLine(json: string): string {
  return json.replaceAll(LINE_SEPARATORS, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}
