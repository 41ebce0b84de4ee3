/**
 * Generates the segment that follows a clip, from file to file: decodes the end of the clip, continues it with
 * `packages/clip-continuation`, and encodes the segment.
 */

import { extendAudio, FrameGenerator } from '../../../../packages/clip-continuation/src/index.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import type { ClipSound } from '../../../media/clips/clip-sound.ts';
import { readClipTail } from '../../../media/clips/clip-tail.ts';
import { i420Bytes } from '../../../media/encode/picture.ts';
import { SegmentWriter } from '../../../media/encode/segment-writer.ts';
import type { ContinuationJob } from '../shared/protocol.ts';
import { nativeWarp } from './native-warp.ts';

/** Maximum duration and total frame size of the end of the clip that is used. */
const TAIL_S = 5;
const TAIL_BYTES = 256 * 1024 * 1024;
const AUDIO_TAIL_S = 8;
/** Sample rate for a clip without audio. */
const SILENT_RATE_HZ = 48_000;

/**
 * Generates the segment of a job. It starts with the frame after the last frame of the clip.
 * @returns the duration of the segment in seconds.
 */
export async function generateSegment(job: ContinuationJob): Promise<number> {
  const { width, height, fps, seconds } = job;
  const maxFrames = Math.floor(TAIL_BYTES / i420Bytes(width, height));
  const tail = await readClipTail(job.clip, {
    frames: Math.max(1, Math.min(job.frames, maxFrames, Math.ceil(TAIL_S * fps))),
    width,
    height,
    audioS: job.audio ? AUDIO_TAIL_S + job.audioExcessS : 0,
  });
  const audio = job.audio ? continuedAudio(tail.audio, job) : undefined;
  const writer = await SegmentWriter.open(job.to, { width, height, fps, colour: tail.colour, audio });
  try {
    const generator = new FrameGenerator(
      tail.frames.map(({ pixels }) => pixels),
      { width, height },
      fps,
      nativeWarp,
    );
    // Two buffers, because a frame is encoded while the next one is generated.
    const pictures = [0, 1].map(() => new Uint8Array(i420Bytes(width, height)));
    const plan = generator.planFrames(Math.round(seconds * fps));
    for (const [index, frame] of plan.entries()) {
      const picture = pictures[index % 2] as Uint8Array<ArrayBuffer>;
      generator.renderFrame(frame, picture);
      await writer.addFrame(picture);
      if (audio) await writer.addAudio(audio.between(index / fps, (index + 1) / fps));
    }
    return (await writer.finish()).seconds;
  } finally {
    await writer.abandon();
  }
}

/** The audio that follows the clip, with the properties that the writer needs. */
function continuedAudio(tail: ClipSound | undefined, { seconds, audioExcessS }: ContinuationJob) {
  const rateHz = tail?.rateHz ?? SILENT_RATE_HZ;
  const length = Math.round(seconds * rateHz);
  // The audio must follow the last frame, so the excess is dropped.
  const excess = Math.round(audioExcessS * rateHz);
  const channels = tail?.channels.map((channel) => channel.subarray(0, Math.max(0, channel.length - excess)));
  const extended = channels
    ? extendAudio(channels, rateHz, length, seededRandom(1))
    : [new Float32Array(length)];
  return {
    rateHz,
    channels: extended.length === 1 ? (1 as const) : (2 as const),
    between: (fromS: number, toS: number) =>
      extended.map((channel) => channel.subarray(Math.round(fromS * rateHz), Math.round(toS * rateHz))),
  };
}
