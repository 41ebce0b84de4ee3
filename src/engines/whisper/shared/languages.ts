/** What is peculiar about languages in Whisper's vocabulary. */

/** The code that Whisper's vocabulary has for Javanese; ISO 639-1 withdrew it for `jv`. */
const WITHDRAWN_JAVANESE = 'jw';

/** A language's code as the world writes it, from the one in Whisper's vocabulary or an older habit. */
export function isoLanguage(code: string): string {
  const lower = code.toLowerCase();
  return lower === WITHDRAWN_JAVANESE ? 'jv' : lower;
}

/** Languages written without spaces between words; their words are taken character by character. */
const WITHOUT_SPACES: ReadonlySet<string> = new Set(['zh', 'ja', 'th', 'lo', 'my', 'km', 'yue']);

/** Whether words of this language are told apart by spaces. @param code an ISO code; undefined counts as yes */
export function hasSpaces(code: string | undefined): boolean {
  return code === undefined || !WITHOUT_SPACES.has(code);
}
