/** The part of a transcript that a listener has heard. */

import type { TimedWord } from './item.ts';

/** Share of a word that must have been played for the word to count as heard. */
const HEARD_SHARE = 0.5;

/**
 * Returns the words that were played up to a time.
 * @param playedMs played audio of the item, in ms from its start.
 */
export function playedTranscript(words: readonly TimedWord[], playedMs: number): string {
  const unheard = words.findIndex(
    ({ startMs, endMs }) => startMs + HEARD_SHARE * (endMs - startMs) > playedMs,
  );
  const heard = unheard < 0 ? words : words.slice(0, unheard);
  return heard
    .map(({ text }) => text)
    .join('')
    .trimEnd();
}
