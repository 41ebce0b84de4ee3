/** Converts the tokens of a window to segments, which are delimited by timestamp tokens. */

import type { TranscriptSegment } from '../../../contract/engines/engine.ts';
import { compressionRatio } from './loop-guard.ts';
import type { WhisperTokenizer } from './tokenizer.ts';

/** A segment with times in seconds of its window. */
export type WindowSegment = TranscriptSegment;

/** Properties that all segments of a window share. */
export type WindowStatistics = Pick<
  TranscriptSegment,
  'temperature' | 'averageLogProbability' | 'noSpeechProbability'
>;

/**
 * Returns the non-empty segments in order, with times limited to the range of speech. A segment without an end timestamp
 * ends with the window.
 * @param tokens decoded text and timestamp tokens.
 * @param speech range of speech, in seconds of the window. The model often outputs 0 as the first timestamp regardless of
 *   the actual start.
 */
export function windowSegments(
  tokenizer: Pick<WhisperTokenizer, 'timeS' | 'decode'>,
  tokens: readonly number[],
  { fromS, toS }: { readonly fromS: number; readonly toS: number },
  statistics: WindowStatistics,
): WindowSegment[] {
  const segments: WindowSegment[] = [];
  const within = (timeS: number) => Math.min(Math.max(timeS, fromS), toS);
  let startS = fromS;
  let text: number[] = [];
  const close = (endS: number) => {
    const decoded = tokenizer.decode(text).trim();
    if (decoded !== '') {
      segments.push({
        startS: within(startS),
        endS: within(Math.max(startS, endS)),
        text: decoded,
        tokens: text,
        compressionRatio: compressionRatio(decoded),
        ...statistics,
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
