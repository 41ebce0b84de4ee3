/** A word of synthesized speech; times in seconds from the start of the audio. */
export interface SpokenWord {
  /** With its punctuation. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The index of the word that is heard at a time; undefined in pauses.
 * @param words in the order of their times, without overlaps.
 */
export function wordAt(words: readonly SpokenWord[], seconds: number): number | undefined {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle]?.start ?? 0) <= seconds) low = middle + 1;
    else high = middle;
  }
  const last = words[low - 1];
  return last !== undefined && seconds < last.end ? low - 1 : undefined;
}
