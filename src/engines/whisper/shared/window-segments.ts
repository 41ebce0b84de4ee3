/** From the tokens of a window to its segments, which timestamp tokens tell apart. */

import type { TranscriptSegment } from '../../../contract/engines/engine.ts';
import { compressionRatio } from './loop-guard.ts';
import type { WhisperTokenizer } from './tokenizer.ts';

/** A segment with times in seconds of its window. */
export type WindowSegment = TranscriptSegment;

/** What is the same for all segments of a window. */
export type WindowFigures = Pick<
  TranscriptSegment,
  'temperature' | 'averageLogProbability' | 'noSpeechProbability'
>;

/**
 * Segments in order, inside what was heard, without empty ones. One that has no end ends with the window.
 * @param tokens text and timestamps, as decoded.
 * @param heard seconds of the window between which somebody speaks: a first time is often 0 whatever it should be.
 */
export function windowSegments(
  tokenizer: Pick<WhisperTokenizer, 'timeS' | 'decode'>,
  tokens: readonly number[],
  { fromS, toS }: { readonly fromS: number; readonly toS: number },
  figures: WindowFigures,
): WindowSegment[] {
  const segments: WindowSegment[] = [];
  const within = (timeS: number) => Math.min(Math.max(timeS, fromS), toS);
  let startS = fromS;
  let text: number[] = [];
  const close = (endS: number) => {
    const words = tokenizer.decode(text).trim();
    if (words !== '') {
      segments.push({
        startS: within(startS),
        endS: within(Math.max(startS, endS)),
        text: words,
        tokens: text,
        compressionRatio: compressionRatio(words),
        ...figures,
      });
    }
    text = [];
  };
  for (const token of tokens) {
    const timeS = tokenizer.timeS(token);
    if (timeS === undefined) {
      text.push(token);
      continue;
    }
    close(timeS);
    startS = timeS;
  }
  close(toS);
  return segments;
}
