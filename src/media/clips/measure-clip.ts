/** Determines the properties of a clip by decoding it, in a media process. */

import { AudioSampleSink } from 'mediabunny';
import type { ClipAudio, ClipFacts } from '../../contract/engines/video.ts';
import { UnusableClipError } from '../process/clip-protocol.ts';
import { clipFrames } from './clip-frames.ts';
import { type ClipView, viewOf } from './clip-picture.ts';
import { type AudioTrack, openClip, type VideoTrack } from './open-clip.ts';

/** Clips with at max this many pixels in all frames are decoded completely: 13 s of 720p at 24 fps. */
const WHOLE_PIXELS = 300e6;
/** Pixels that are decoded of larger clips, at the beginning and after the last key frame each. */
const HEAD_PIXELS = 100e6;
const END_PIXELS = 600e6;
/** Maximum number of decoded audio packets: about a minute. */
const MAX_AUDIO_PACKETS = 3000;

/**
 * Measures a clip. Its duration is the sum of its packet durations. All packets are decoded as a check, or
 * only the beginning and the end of a large clip.
 * @throws UnusableClipError; the system's error if the path cannot be opened.
 */
export async function measureClip(path: string): Promise<Omit<ClipFacts, 'lengthBytes'>> {
  const clip = await openClip(path);
  try {
    const { video, audio, container } = clip;
    const { width, height } = await tryVideo(video);
    const { startsS, endS } = video.packets;
    const [firstS = 0] = startsS;
    return {
      container,
      videoCodec: video.codec,
      width,
      height,
      // The first frame may start before the clip does.
      fps: rounded(startsS.length / (endS - firstS)),
      frames: startsS.length,
      durationS: rounded(endS - Math.max(0, firstS)),
      audio: audio && (await tryAudio(audio)),
    };
  } finally {
    await clip.close();
  }
}

/** Removes floating-point rounding errors of sums. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** @throws UnusableClipError `broken`, `cut-off`, `too-many-pixels`. */
async function tryVideo(video: VideoTrack): Promise<ClipView> {
  const { startsS, count } = video.packets;
  const lastS = startsS.at(-1) ?? 0;
  const beginning = await tryFrames(video, Number.NEGATIVE_INFINITY, (pixels) =>
    pixels * count <= WHOLE_PIXELS ? WHOLE_PIXELS : HEAD_PIXELS,
  );
  if (beginning.view === undefined) throw broken(video);
  const end = beginning.isComplete ? beginning : await tryFrames(video, lastS, () => END_PIXELS);
  if (end.isComplete && !(end.last?.sound && end.last.timeS >= lastS)) throw broken(video);
  return beginning.view;
}

interface TriedFrames {
  /** Display properties of the first frame. */
  readonly view: ClipView | undefined;
  readonly last: { readonly timeS: number; readonly sound: boolean } | undefined;
  /** Whether the last frame of the clip was decoded. */
  readonly isComplete: boolean;
}

/**
 * Decodes from the key frame at or before a time.
 * @param maxPixels returns the maximum number of pixels to decode, given the pixels per frame.
 */
async function tryFrames(
  video: VideoTrack,
  fromS: number,
  maxPixels: (framePixels: number) => number,
): Promise<TriedFrames> {
  let view: ClipView | undefined;
  let last: TriedFrames['last'];
  let pixels = 0;
  for await (const { frame, timeS, sound } of clipFrames(video, fromS)) {
    try {
      view ??= await viewOf(video, frame);
      last = { timeS, sound };
      const framePixels = frame.width * frame.height;
      pixels += framePixels;
      if (pixels > maxPixels(framePixels)) return { view, last, isComplete: false };
    } finally {
      frame.free();
    }
  }
  return { view, last, isComplete: true };
}

/** @throws UnusableClipError `broken`. */
async function tryAudio({ track, codec, packets }: AudioTrack): Promise<ClipAudio> {
  let facts: ClipAudio | undefined;
  try {
    let tried = 0;
    for await (const sample of new AudioSampleSink(track).samples()) {
      const { sampleRate: rateHz, numberOfChannels: channels } = sample;
      sample.close();
      facts ??= { codec, rateHz, channels, durationS: packets.endS - Math.max(0, packets.startsS[0] ?? 0) };
      tried += 1;
      if (tried === MAX_AUDIO_PACKETS) break;
    }
  } catch (error) {
    throw new UnusableClipError({ kind: 'broken', track: 'audio', codec }, error);
  }
  if (facts === undefined) throw new UnusableClipError({ kind: 'broken', track: 'audio', codec });
  return facts;
}

function broken({ codec }: VideoTrack): UnusableClipError {
  return new UnusableClipError({ kind: 'broken', track: 'video', codec });
}
