/** Re-encodes a part of a clip, in a media process. */

import type { ClipColour, I420 } from '../encode/picture.ts';
import { type SegmentAudio, SegmentWriter } from '../encode/segment-writer.ts';
import { type ClipCut, type CutClip, UnusableClipError } from '../process/clip-protocol.ts';
import { type ClipSound, clipSound } from './clip-sound.ts';
import { type OpenClip, openClip, type VideoTrack } from './open-clip.ts';
import { shapedFrames } from './shaped-frames.ts';

/** Sample rates that AAC supports, in Hz; audio with another rate is omitted. */
const AAC_RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
/** Threads of the encoder: a client waits for this job. */
const THREADS = 2;

/**
 * Encodes a part of a clip as MP4 with H.264 and AAC at a constant frame rate, the mean rate of the clip:
 * with a variable frame rate, frames are repeated or dropped.
 * @throws UnusableClipError, `no-frames` if the part has none.
 */
export async function cutClip(path: string, to: string, cut: ClipCut): Promise<CutClip> {
  const clip = await openClip(path);
  try {
    return await encodePart(clip, to, cut);
  } finally {
    await clip.close();
  }
}

async function encodePart({ video, audio }: OpenClip, to: string, cut: ClipCut): Promise<CutClip> {
  const { startsS, endS } = video.packets;
  const [startS = 0] = startsS;
  const fps = startsS.length / (endS - startS);
  const fromS = Math.max(0, startS, cut.fromS < 0 ? endS + cut.fromS : cut.fromS);
  const toS = Math.min(endS, cut.toS ?? endS);
  const frames = Math.round((toS - fromS) * fps);
  if (frames < 1) throw new UnusableClipError({ kind: 'no-frames' });
  const sound = audio && (await SoundAlong.open(clipSound(audio, fromS, toS)));
  let writer: SegmentWriter | undefined;
  try {
    for await (const { pixels, colour } of evenFrames(video, { fromS, fps, frames }, cut)) {
      writer ??= await SegmentWriter.open(to, { ...cut, fps, colour, audio: sound?.shape, threads: THREADS });
      await writer.addFrame(pixels);
      await sound?.addTo(writer, 1 / fps);
    }
    if (writer === undefined)
      throw new UnusableClipError({ kind: 'broken', track: 'video', codec: video.codec });
    await sound?.addTo(writer, Number.POSITIVE_INFINITY);
    const written = await writer.finish();
    return { ...written, width: cut.width, height: cut.height, audio: sound !== undefined };
  } finally {
    await writer?.abandon();
    await sound?.close();
  }
}

/** Resamples frames to constant intervals: the frame displayed at each time. */
async function* evenFrames(
  video: VideoTrack,
  times: { readonly fromS: number; readonly fps: number; readonly frames: number },
  size: { readonly width: number; readonly height: number },
) {
  const { fromS, fps, frames } = times;
  const halfS = 0.5 / fps;
  let shown: { readonly pixels: I420; readonly colour: ClipColour } | undefined;
  let next = 0;
  for await (const frame of shapedFrames(video, fromS - halfS, size)) {
    for (; shown && next < frames && fromS + next / fps + halfS < frame.timeS; next++) yield shown;
    if (next === frames) return;
    shown = frame;
  }
  for (; shown && next < frames; next++) yield shown;
}

/** Audio of the part, interleaved with the frames. */
class SoundAlong {
  readonly shape: SegmentAudio;
  readonly #runs: AsyncGenerator<ClipSound, void, undefined>;
  #run: ClipSound | undefined;
  /** Duration in seconds by which the written audio is ahead of the frames. */
  #aheadS = 0;

  private constructor(runs: AsyncGenerator<ClipSound, void, undefined>, first: ClipSound) {
    this.#runs = runs;
    this.#run = first;
    this.shape = { rateHz: first.rateHz, channels: first.channels.length === 1 ? 1 : 2 };
  }

  /** Undefined if the part has no audio, or none that AAC supports. */
  static async open(runs: AsyncGenerator<ClipSound, void, undefined>): Promise<SoundAlong | undefined> {
    const { value: first } = await runs.next();
    if (first && AAC_RATES.includes(first.rateHz)) return new SoundAlong(runs, first);
    await runs.return();
    return undefined;
  }

  /** Writes the audio for the given duration of frames. */
  async addTo(writer: SegmentWriter, seconds: number): Promise<void> {
    this.#aheadS -= seconds;
    while (this.#run !== undefined && this.#aheadS < 0) {
      const { rateHz, channels } = this.#run;
      await writer.addAudio(channels);
      this.#aheadS += (channels[0]?.length ?? 0) / rateHz;
      this.#run = (await this.#runs.next()).value ?? undefined;
    }
  }

  async close(): Promise<void> {
    await this.#runs.return();
  }
}
