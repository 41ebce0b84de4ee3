/** Token consumption of a job: the clip is input, the segment is output, both at the size of the output (spec 4.6, rule 5). */

import type { UsageAmounts } from '../../src/contract/accounts/calls.ts';
import type { ClipFacts, VideoSegment } from '../../src/contract/engines/video.ts';

/** Billed frames per second, independent of the clip, so that all engines are billed alike. */
const BILLED_FPS = 24;
/** Pixels per token, as usual for video services. */
const PIXELS_PER_TOKEN = 1024;

/** Tokens of a generated segment, or the maximum tokens of a requested one. */
export function videoTokens(
  clip: Pick<ClipFacts, 'durationS'>,
  segment: Pick<VideoSegment, 'width' | 'height' | 'seconds'>,
): UsageAmounts {
  const tokens = (seconds: number) =>
    Math.ceil((segment.width * segment.height * BILLED_FPS * seconds) / PIXELS_PER_TOKEN);
  return { inputTokens: tokens(clip.durationS), outputTokens: tokens(segment.seconds) };
}
