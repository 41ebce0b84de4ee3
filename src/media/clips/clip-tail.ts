/** The decoded end of a clip, for its continuation. Runs in the calling process. */

import { concatenate } from '../../audio/concatenate.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { ClipColour, I420 } from '../encode/picture.ts';
import { UnusableClipError } from '../process/clip-protocol.ts';
import { type ClipSound, clipSound } from './clip-sound.ts';
import { type AudioTrack, openClip, type VideoTrack } from './open-clip.ts';
import { shapedFrames } from './shaped-frames.ts';

export interface TailOptions {
  /** Maximum number of frames before the end. */
  readonly frames: number;
  /** Output size in pixels, even; frames are stretched to it. */
  readonly width: number;
  readonly height: number;
  /** Duration of the audio before the end, in seconds. */
  readonly audioS: number;
}

export interface TailFrame {
  /** Presentation time in seconds from the start of the clip. */
  readonly timeS: number;
  readonly pixels: I420;
}

export interface ClipTail {
  /** In presentation order; the last one is the last frame of the clip. Fewer if the clip has fewer. */
  readonly frames: readonly TailFrame[];
  readonly colour: ClipColour;
  /** Ends at the end of the clip's audio. Undefined if the clip has no audio or none was requested. */
  readonly audio: ClipSound | undefined;
}

/**
 * Reads the end of a clip.
 * @throws UnusableClipError.
 */
export async function readClipTail(path: string, options: TailOptions): Promise<ClipTail> {
  const clip = await openClip(path);
  try {
    const { frames, colour } = await tailFrames(clip.video, options);
    const audio = options.audioS > 0 && clip.audio ? await tailAudio(clip.audio, options.audioS) : undefined;
    return { frames, colour, audio };
  } finally {
    await clip.close();
  }
}

async function tailFrames(
  video: VideoTrack,
  options: TailOptions,
): Promise<{ readonly frames: readonly TailFrame[]; readonly colour: ClipColour }> {
  const { startsS } = video.packets;
  const fromS = startsS.at(-options.frames) ?? startsS[0] ?? 0;
  const frames: TailFrame[] = [];
  let colour: ClipColour | undefined;
  for await (const { timeS, pixels, colour: its } of shapedFrames(video, fromS, options)) {
    frames.push({ timeS, pixels });
    colour = its;
  }
  if (colour === undefined)
    throw new UnusableClipError({ kind: 'broken', track: 'video', codec: video.codec });
  // Frames may share a timestamp, so there may be more than requested.
  return { frames: frames.slice(-options.frames), colour };
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
    throw new UnusableClipError({ kind: 'broken', track: 'audio', codec });
  }
  return {
    rateHz: first.rateHz,
    channels: first.channels.map((_, index) =>
      concatenate(parts.map((part) => part.channels[index] as Float32Samples)),
    ),
  };
}
