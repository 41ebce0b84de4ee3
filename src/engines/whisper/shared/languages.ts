/** Properties of the languages in the vocabulary of Whisper. */

/** The code of Javanese in the vocabulary of Whisper, which ISO 639-1 has replaced with `jv`. */
const WITHDRAWN_JAVANESE = 'jw';

/** Converts a language code of the vocabulary of Whisper to ISO 639. */
export function isoLanguage(code: string): string {
  const lower = code.toLowerCase();
  return lower === WITHDRAWN_JAVANESE ? 'jv' : lower;
}

/** Languages written without spaces between words. Each of their characters is treated as a word. */
const WITHOUT_SPACES: ReadonlySet<string> = new Set(['zh', 'ja', 'th', 'lo', 'my', 'km', 'yue']);

/** Whether a language separates words with spaces. @param code ISO code. Undefined: true. */
export function hasSpaces(code: string | undefined): boolean {
  return code === undefined || !WITHOUT_SPACES.has(code);
}
