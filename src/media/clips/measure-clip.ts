/** What a clip is, found out by decoding it, inside a media process. */

import { AudioSampleSink } from 'mediabunny';
import type { ClipAudio, ClipFacts } from '../../contract/engines/video.ts';
import { ClipFaultError } from '../process/clip-protocol.ts';
import { clipFrames } from './clip-frames.ts';
import { type ClipView, viewOf } from './clip-picture.ts';
import { type AudioTrack, openClip, type VideoTrack } from './open-clip.ts';

/** A clip of no more pixels in all its frames is decoded whole: 13 s of 720p at 24 frames a second. */
const WHOLE_PIXELS = 300e6;
/** Of any other: its beginning, and what comes after its last key frame, each as far as these go. */
const BEGINNING_PIXELS = 100e6;
const END_PIXELS = 600e6;
/** Sound beyond a minute or so is not decoded. */
const MAX_AUDIO_PACKETS = 3000;

/**
 * Measures a clip. Its length is counted in the times of its packets; that these can be decoded is tried on all of them,
 * or on the beginning and the end where a clip is large.
 * @throws ClipFaultError; the system's error when the path cannot be opened.
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
      // The first frame may begin before the clip does.
      fps: rounded(startsS.length / (endS - firstS)),
      frames: startsS.length,
      durationS: rounded(endS - Math.max(0, firstS)),
      audio: audio && (await tryAudio(audio)),
    };
  } finally {
    await clip.close();
  }
}

/** Without the dust of sums of fractions. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** @throws ClipFaultError `broken`, `cut-off`, `too-many-pixels`. */
async function tryVideo(video: VideoTrack): Promise<ClipView> {
  const { startsS, count } = video.packets;
  const lastS = startsS.at(-1) ?? 0;
  const beginning = await tryFrames(video, Number.NEGATIVE_INFINITY, (pixels) =>
    pixels * count <= WHOLE_PIXELS ? WHOLE_PIXELS : BEGINNING_PIXELS,
  );
  if (beginning.view === undefined) throw broken(video);
  const end = beginning.ended ? beginning : await tryFrames(video, lastS, () => END_PIXELS);
  if (end.ended && !(end.last?.sound && end.last.timeS >= lastS)) throw broken(video);
  return beginning.view;
}

interface TriedFrames {
  /** Of the first frame. */
  readonly view: ClipView | undefined;
  readonly last: { readonly timeS: number; readonly sound: boolean } | undefined;
  /** Whether the last frame of the clip is among them. */
  readonly ended: boolean;
}

/**
 * Decodes from the key frame at or before a time.
 * @param maxPixels how many pixels to decode at most, told the pixels of one frame.
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
      if (pixels > maxPixels(framePixels)) return { view, last, ended: false };
    } finally {
      frame.free();
    }
  }
  return { view, last, ended: true };
}

/** @throws ClipFaultError `broken`. */
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
    throw new ClipFaultError({ kind: 'broken', track: 'audio', codec }, error);
  }
  if (facts === undefined) throw new ClipFaultError({ kind: 'broken', track: 'audio', codec });
  return facts;
}

function broken({ codec }: VideoTrack): ClipFaultError {
  return new ClipFaultError({ kind: 'broken', track: 'video', codec });
}
