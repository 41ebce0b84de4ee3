/**
 * Estimates word times for models without alignment: divides the duration of each segment among its words in proportion to
 * their lengths.
 */

import type { TranscriptWord } from '../../../contract/engines/engine.ts';
import type { WhisperTokenizer } from '../shared/tokenizer.ts';
import { mergePunctuation, splitWords, type TimedSegment } from './word-times.ts';

/**
 * Returns the words of all segments, with punctuation attached. Times are in seconds of the window, rounded to 0.01 s, in
 * order and within the segment of each word.
 * @param language ISO code of the text's language.
 */
export function spreadWords(
  tokenizer: Pick<WhisperTokenizer, 'decode'>,
  segments: readonly TimedSegment[],
  language: string | undefined,
): TranscriptWord[] {
  return segments.flatMap(({ startS, endS, tokens }) => {
    const pieces = splitWords(tokenizer, tokens, language);
    mergePunctuation(pieces);
    const words = pieces.map(({ text }) => text.trim()).filter((word) => word !== '');
    const characters = words.reduce((sum, word) => sum + word.length, 0);
    let before = 0;
    const currentTimeS = () => {
      const timeS = startS + ((endS - startS) * before) / characters;
      return Math.min(endS, Math.max(startS, Math.round(timeS * 100) / 100));
    };
    return words.map((word) => {
      const wordStartS = currentTimeS();
      before += word.length;
      return { word, startS: wordStartS, endS: currentTimeS() };
    });
  });
}
