/** Splits the frames of an utterance into windows for the decoder. */

import type { SynthesisRequest } from '../../contract/engines/engine.ts';

/** A decoder's window lengths, in its own frames. */
export interface WindowPlan {
  /** Length of the first window of a stream: short, for a low time to first audio. */
  readonly first: number;
  /** Maximum length of a window. Longer windows are not more efficient and would delay other jobs and cancellation. */
  readonly maxLength: number;
  /** Frames on each side in the receptive field of the decoder's convolutions. */
  readonly context: number;
}

/** A range of frames to decode, and the range with context that the decoder receives: start inclusive, end exclusive. */
export interface FrameWindow {
  readonly start: number;
  readonly end: number;
  readonly contextStart: number;
  readonly contextEnd: number;
}

/** The audible frames of an utterance: [from, to) of `frames`. */
export interface AudibleFrames {
  readonly frames: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Yields windows that cover the audible frames without gap or overlap. The windows of a stream start short and double in
 * length. A last window that would be shorter than the context is merged into the previous one.
 * @param maxFirst maximum length of the first window of a stream, in frames.
 */
export function* frameWindows(
  { frames, from, to }: AudibleFrames,
  plan: WindowPlan,
  delivery: SynthesisRequest['delivery'],
  maxFirst = plan.first,
): Generator<FrameWindow> {
  // A window shorter than its context is inefficient.
  const first = Math.max(plan.context, Math.min(plan.first, Math.round(maxFirst)));
  let length = delivery === 'stream' ? first : plan.maxLength;
  let end = from;
  for (let start = from; start < to; start = end) {
    end = start + length;
    if (to - end < plan.context) end = to;
    yield {
      start,
      end,
      contextStart: Math.max(0, start - plan.context),
      contextEnd: Math.min(frames, end + plan.context),
    };
    length = Math.min(plan.maxLength, length * 2);
  }
}
