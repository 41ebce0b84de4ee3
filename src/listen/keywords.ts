/** Words and phrases that guide a transcription, over HTTP and in realtime sessions. */

import { codePoints } from '../kit/validation/code-points.ts';

/** Maximum number of keywords, and of their code points in total. Engines may use fewer. */
export const MAX_KEYWORDS = 1000;
export const MAX_KEYWORD_CHARACTERS = 5000;

/** What {@link cleanKeywords} accepts, for the end of an error message: `must …`. */
export const KEYWORDS_RULE = `be a list of at most ${MAX_KEYWORDS} words or phrases with ${MAX_KEYWORD_CHARACTERS} characters in total`;

/**
 * Returns the keywords without blank ones, each on one line.
 * @returns undefined if they exceed a limit.
 */
export function cleanKeywords(written: readonly string[]): readonly string[] | undefined {
  if (written.length > MAX_KEYWORDS) return undefined;
  const total = written.reduce((sum, each) => sum + codePoints(each), 0);
  if (total > MAX_KEYWORD_CHARACTERS) return undefined;
  return written.map((each) => each.toWellFormed().trim().replace(/\s+/g, ' ')).filter((each) => each !== '');
}
