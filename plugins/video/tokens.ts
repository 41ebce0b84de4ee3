/** What a job consumes: the clip goes in, the segment comes out, both at the size and rate of the output (spec 4.6, rule 5). */

import type { UsageAmounts } from '../../src/contract/accounts/calls.ts';
import type { ClipFacts, VideoSegment } from '../../src/contract/engines/video.ts';

/** Frames of a second that are billed, whatever the clip has, so that every engine is billed alike. */
const BILLED_FPS = 24;
/** Pixels of a token, as video services count. */
const PIXELS_PER_TOKEN = 1024;

/** Of a segment that was made, or of one that is asked for: then it is the most. */
export function videoTokens(
  clip: Pick<ClipFacts, 'durationS'>,
  segment: Pick<VideoSegment, 'width' | 'height' | 'seconds'>,
): UsageAmounts {
  const tokens = (seconds: number) =>
    Math.ceil((segment.width * segment.height * BILLED_FPS * seconds) / PIXELS_PER_TOKEN);
  return { inputTokens: tokens(clip.durationS), outputTokens: tokens(segment.seconds) };
}
