/** From a clip's file to the file of what follows it. */

import type { ClipSound } from '../../../media/clips/clip-sound.ts';
import { readClipTail } from '../../../media/clips/clip-tail.ts';
import { i420Bytes } from '../../../media/encode/picture.ts';
import { SegmentWriter } from '../../../media/encode/segment-writer.ts';
import type { ContinuationJob } from '../shared/protocol.ts';
import { audioBed } from './audio-bed.ts';
import { FrameMaker } from './motion/frame-maker.ts';

/** How much of the clip's end is known to what continues it, */
const TAIL_S = 5;
/** as long as its frames fit in here. */
const TAIL_BYTES = 256 * 1024 * 1024;
const AUDIO_TAIL_S = 8;
/** Of the silence that follows a silent clip. */
const SILENT_HZ = 48_000;

/**
 * Makes the segment of a job: as many frames as its seconds have, from the frame after the clip's last on.
 * @returns its length in seconds.
 */
export async function makeSegment(job: ContinuationJob): Promise<number> {
  const { width, height, fps, seconds } = job;
  const most = Math.floor(TAIL_BYTES / i420Bytes(width, height));
  const tail = await readClipTail(job.clip, {
    frames: Math.max(1, Math.min(job.frames, most, Math.ceil(TAIL_S * fps))),
    width,
    height,
    audioS: job.audio ? AUDIO_TAIL_S + job.soundBeyondS : 0,
  });
  const sound = job.audio ? soundOf(tail.audio, job) : undefined;
  const writer = await SegmentWriter.open(job.to, { width, height, fps, colour: tail.colour, audio: sound });
  try {
    const maker = new FrameMaker(
      tail.frames.map(({ pixels }) => pixels),
      { width, height },
      fps,
    );
    // A frame is encoded while the next is made.
    const pictures = [0, 1].map(() => new Uint8Array(i420Bytes(width, height)));
    const plan = maker.plan(Math.round(seconds * fps));
    for (const [index, shown] of plan.entries()) {
      const picture = pictures[index % 2] as Uint8Array<ArrayBuffer>;
      maker.make(shown, picture);
      await writer.addFrame(picture);
      if (sound) await writer.addAudio(sound.between(index / fps, (index + 1) / fps));
    }
    return (await writer.finish()).seconds;
  } finally {
    await writer.abandon();
  }
}

/** What follows a clip's sound, and what a writer has to know of it. */
function soundOf(tail: ClipSound | undefined, { seconds, soundBeyondS }: ContinuationJob) {
  const rateHz = tail?.rateHz ?? SILENT_HZ;
  const length = Math.round(seconds * rateHz);
  // It follows the last picture.
  const beyond = Math.round(soundBeyondS * rateHz);
  const heard = tail?.channels.map((channel) => channel.subarray(0, Math.max(0, channel.length - beyond)));
  const bed = heard ? audioBed(heard, rateHz, length) : [new Float32Array(length)];
  return {
    rateHz,
    channels: bed.length === 1 ? (1 as const) : (2 as const),
    between: (fromS: number, toS: number) =>
      bed.map((channel) => channel.subarray(Math.round(fromS * rateHz), Math.round(toS * rateHz))),
  };
}
