/** How the frames of an utterance are cut into decoder passes. */

import type { SynthesisRequest } from '../../contract/engines/engine.ts';

/** A decoder's window lengths, in its own frames. */
export interface WindowPlan {
  /** Length of a stream's first window: short, so that the first audio is early. */
  readonly first: number;
  /** Length that windows grow to. Longer ones gain nothing and would hold up other jobs and cancellation. */
  readonly longest: number;
  /** Frames on each side that the decoder's convolutions reach. */
  readonly context: number;
}

/** A run of frames to make audio of, and the run with context that the decoder gets. */
export interface FrameWindow {
  readonly start: number;
  readonly end: number;
  readonly contextStart: number;
  readonly contextEnd: number;
}

/** Which frames of an utterance are to be heard: [from, to) of `frames`. */
export interface AudibleFrames {
  readonly frames: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Windows that cover the audible frames without gap or overlap. A stream's start short and double; a last
 * window that would be shorter than the context joins the one before.
 */
export function* frameWindows(
  { frames, from, to }: AudibleFrames,
  plan: WindowPlan,
  delivery: SynthesisRequest['delivery'],
): Generator<FrameWindow> {
  let length = delivery === 'stream' ? plan.first : plan.longest;
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
    length = Math.min(plan.longest, length * 2);
  }
}
