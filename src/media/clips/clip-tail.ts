/** The end of a clip, decoded, for what goes on from it; inside the process that calls. */

import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { ClipColour, I420 } from '../encode/picture.ts';
import { ClipFaultError } from '../process/clip-protocol.ts';
import { type ClipSound, clipSound } from './clip-sound.ts';
import { type AudioTrack, openClip, type VideoTrack } from './open-clip.ts';
import { shapedFrames } from './shaped-frames.ts';

export interface TailWish {
  /** How many frames before the end. */
  readonly frames: number;
  /** The size that they get, in pixels, even; their shape is stretched to it. */
  readonly width: number;
  readonly height: number;
  /** How much sound before the end, in seconds. */
  readonly audioS: number;
}

export interface TailFrame {
  /** When it is shown, in seconds from the clip's start. */
  readonly timeS: number;
  readonly pixels: I420;
}

export interface ClipTail {
  /** In the order in which they are shown; the last is the last of the clip. Fewer where the clip has fewer. */
  readonly frames: readonly TailFrame[];
  readonly colour: ClipColour;
  /** Ends where the clip's sound ends. Undefined when the clip is silent or none was wanted. */
  readonly audio: ClipSound | undefined;
}

/**
 * Reads the end of a clip.
 * @throws ClipFaultError.
 */
export async function readClipTail(path: string, wish: TailWish): Promise<ClipTail> {
  const clip = await openClip(path);
  try {
    const { frames, colour } = await tailFrames(clip.video, wish);
    const audio = wish.audioS > 0 && clip.audio ? await tailAudio(clip.audio, wish.audioS) : undefined;
    return { frames, colour, audio };
  } finally {
    await clip.close();
  }
}

async function tailFrames(
  video: VideoTrack,
  wish: TailWish,
): Promise<{ readonly frames: readonly TailFrame[]; readonly colour: ClipColour }> {
  const { startsS } = video.packets;
  const fromS = startsS.at(-wish.frames) ?? startsS[0] ?? 0;
  const frames: TailFrame[] = [];
  let colour: ClipColour | undefined;
  for await (const { timeS, pixels, colour: its } of shapedFrames(video, fromS, wish)) {
    frames.push({ timeS, pixels });
    colour = its;
  }
  if (colour === undefined) throw new ClipFaultError({ kind: 'broken', track: 'video', codec: video.codec });
  // Frames of one time are possible: there may be more than were wanted.
  return { frames: frames.slice(-wish.frames), colour };
}

async function tailAudio(audio: AudioTrack, seconds: number): Promise<ClipSound> {
  const parts: ClipSound[] = [];
  for await (const part of clipSound(audio, audio.packets.endS - seconds)) parts.push(part);
  return joined(parts, audio);
}

function joined(parts: readonly ClipSound[], { rateHz, codec }: AudioTrack): ClipSound {
  const [first] = parts;
  if (first === undefined) return { rateHz, channels: [new Float32Array(0)] };
  if (parts.some((part) => part.rateHz !== first.rateHz || part.channels.length !== first.channels.length)) {
    throw new ClipFaultError({ kind: 'broken', track: 'audio', codec });
  }
  return {
    rateHz: first.rateHz,
    channels: first.channels.map((_, index) =>
      concatenated(parts.map((part) => part.channels[index] as Float32Samples)),
    ),
  };
}

function concatenated(runs: readonly Float32Samples[]): Float32Samples {
  const whole = new Float32Array(runs.reduce((length, run) => length + run.length, 0));
  let at = 0;
  for (const run of runs) {
    whole.set(run, at);
    at += run.length;
  }
  return whole;
}
