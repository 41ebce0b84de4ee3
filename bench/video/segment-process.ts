/**
 * Generates or evaluates one segment in a separate process, so that its memory can be measured. The argument is an order as
 * JSON; prints the result as JSON.
 */

import { structuralSimilarity } from '../../packages/clip-continuation/src/index.ts';
import type { ContinuationJob } from '../../src/engines/continuation/shared/protocol.ts';
import { generateSegment } from '../../src/engines/continuation/worker/segment-generator.ts';
import { readClipTail } from '../../src/media/clips/clip-tail.ts';
import type { I420 } from '../../src/media/encode/picture.ts';
import { SegmentWriter } from '../../src/media/encode/segment-writer.ts';
import { loadCodecs } from '../../src/media/process/codecs.ts';

export type SegmentOrder =
  | { readonly kind: 'make'; readonly job: ContinuationJob }
  | { readonly kind: 'judge'; readonly job: ContinuationJob };

export interface MadeSegment {
  /** Wall time, and time of all cores. */
  readonly tookMs: number;
  readonly coreMs: number;
}

export interface JudgedSegment extends MadeSegment {
  readonly frames: number;
  /** SSIM of the luma of the first frame and the last frame of the clip. */
  readonly seamSimilarity: number;
  /** Changes of the mean luma between frames, relative to the full range: at the seam, in the segment, at the end of the clip. */
  readonly seamStep: number;
  readonly largestStep: number;
  readonly clipStep: number;
}

/** Frames at the end of the clip for the comparison of luma. */
const CLIP_FRAMES = 24;
const FULL_RANGE = 219;

async function timed(work: () => Promise<unknown>): Promise<MadeSegment> {
  const start = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { tookMs: performance.now() - start, coreMs: (user + system) / 1000 };
}

/** Evaluates a segment. Times are those of encoding its frames alone. */
async function judge(job: ContinuationJob): Promise<JudgedSegment> {
  const { width, height, fps, seconds, clip, to } = job;
  const before = await readClipTail(clip, { frames: CLIP_FRAMES, width, height, audioS: 0 });
  const maxFrames = Math.round(seconds * fps) + 10;
  const { frames, colour } = await readClipTail(to, { frames: maxFrames, width, height, audioS: 0 });
  const encoding = await timed(async () => {
    const writer = await SegmentWriter.open(`${to}.again`, { width, height, fps, colour, audio: undefined });
    for (const { pixels } of frames) await writer.addFrame(pixels);
    await writer.finish();
  });
  const light = ({ pixels }: { readonly pixels: I420 }) => {
    const plane = pixels.subarray(0, width * height);
    return plane.reduce((sum, grey) => sum + grey, 0) / plane.length / FULL_RANGE;
  };
  const steps = (lights: readonly number[]) =>
    lights.slice(1).map((value, index) => Math.abs(value - (lights[index] ?? value)));
  const lights = [...before.frames.slice(-1), ...frames].map(light);
  const [last] = before.frames.slice(-1);
  const [first] = frames;
  return {
    ...encoding,
    frames: frames.length,
    seamSimilarity: last && first ? structuralSimilarity(last.pixels, first.pixels, width, height) : 0,
    seamStep: steps(lights)[0] ?? 0,
    largestStep: Math.max(...steps(lights)),
    clipStep: Math.max(...steps(before.frames.map(light))),
  };
}

const order = JSON.parse(process.argv[2] ?? '') as SegmentOrder;
loadCodecs();
const result = order.kind === 'make' ? await timed(() => generateSegment(order.job)) : await judge(order.job);
console.log(JSON.stringify(result));
process.exit(0);
