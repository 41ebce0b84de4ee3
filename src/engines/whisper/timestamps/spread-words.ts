/**
 * Times of words where the model does not tell them: each segment's time, shared among its words by their
 * length. An estimate; the ends of segments are the model's own.
 */

import type { TranscriptWord } from '../../../contract/engines/engine.ts';
import type { WhisperTokenizer } from '../shared/tokenizer.ts';
import { mergeMarks, splitWords, type TimedSegment } from './word-times.ts';

/**
 * Words of all segments, with marks at the words they belong to. Times are in seconds of the window, to the
 * hundredth, in order and inside each word's segment.
 * @param language ISO code of the text's language.
 */
export function spreadWords(
  tokenizer: Pick<WhisperTokenizer, 'decode'>,
  segments: readonly TimedSegment[],
  language: string | undefined,
): TranscriptWord[] {
  return segments.flatMap(({ startS, endS, tokens }) => {
    const parts = splitWords(tokenizer, tokens, language);
    mergeMarks(parts);
    const words = parts.map(({ text }) => text.trim()).filter((word) => word !== '');
    const characters = words.reduce((sum, word) => sum + word.length, 0);
    let before = 0;
    const place = () => {
      const timeS = startS + ((endS - startS) * before) / characters;
      return Math.min(endS, Math.max(startS, Math.round(timeS * 100) / 100));
    };
    return words.map((word) => {
      const from = place();
      before += word.length;
      return { word, startS: from, endS: place() };
    });
  });
}
