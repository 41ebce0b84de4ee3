/** From the tokens of a window to its segments, which timestamp tokens tell apart. */

import type { TranscriptSegment } from '../../contract/engine.ts';
import { compressionRatio } from './loop-guard.ts';
import type { WhisperTokenizer } from './whisper-tokenizer.ts';

/** A segment with times in seconds of its window. */
export type WindowSegment = TranscriptSegment;

/** What is the same for all segments of a window. */
export type WindowFigures = Pick<
  TranscriptSegment,
  'temperature' | 'averageLogProbability' | 'noSpeechProbability'
>;

/**
 * Segments in order, inside the window, without empty ones. One that has no end ends with the window.
 * @param tokens text and timestamps, as decoded.
 * @param durationS length of the window's audio.
 */
export function windowSegments(
  tokenizer: Pick<WhisperTokenizer, 'timeS' | 'decode'>,
  tokens: readonly number[],
  durationS: number,
  figures: WindowFigures,
): WindowSegment[] {
  const segments: WindowSegment[] = [];
  let startS = 0;
  let text: number[] = [];
  const close = (endS: number) => {
    const words = tokenizer.decode(text).trim();
    if (words !== '') {
      segments.push({
        startS: Math.min(startS, durationS),
        endS: Math.min(Math.max(startS, endS), durationS),
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
  close(durationS);
  return segments;
}
