import { type AudioSample, AudioSampleSink } from 'mediabunny';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import { UnusableClipError } from '../process/clip-protocol.ts';
import type { AudioTrack } from './open-clip.ts';

/** A chunk of the audio of a clip. */
export interface ClipSound {
  readonly rateHz: number;
  /** One or two planes of equal length; more than two channels are averaged to one. */
  readonly channels: readonly Float32Samples[];
}

/** Preroll in seconds: decoders need the packets before a position to decode it correctly. */
const LEAD_S = 0.1;

/**
 * The audio of a clip between two times, in contiguous chunks.
 * @param fromS seconds from the start of the clip; negative: from its start.
 * @param toS end in seconds; samples after the end of the track according to the index are also omitted.
 * @throws UnusableClipError `broken`.
 */
export async function* clipSound(
  { track, codec, packets }: AudioTrack,
  fromS: number,
  toS = Number.POSITIVE_INFINITY,
): AsyncGenerator<ClipSound, void, undefined> {
  const startS = Math.max(0, fromS);
  const endS = Math.min(toS, packets.endS);
  try {
    for await (const sample of new AudioSampleSink(track).samples(Math.max(0, startS - LEAD_S), endS)) {
      const at = (timeS: number) => Math.round((timeS - sample.timestamp) * sample.sampleRate);
      const from = Math.max(0, at(startS));
      const to = Math.min(sample.numberOfFrames, at(endS));
      if (from < to) yield soundOf(sample, from, to);
      sample.close();
    }
  } catch (error) {
    throw new UnusableClipError({ kind: 'broken', track: 'audio', codec }, error);
  }
}

function soundOf(sample: AudioSample, from: number, to: number): ClipSound {
  const planes = Array.from({ length: sample.numberOfChannels }, (_, planeIndex) => {
    const plane = new Float32Array(to - from);
    sample.copyTo(plane, { format: 'f32-planar', frameOffset: from, frameCount: to - from, planeIndex });
    return plane;
  });
  return { rateHz: sample.sampleRate, channels: planes.length > 2 ? [mean(planes)] : planes };
}

function mean(planes: readonly Float32Samples[]): Float32Samples {
  const mixed = new Float32Array(planes[0]?.length ?? 0);
  for (const plane of planes)
    for (let i = 0; i < mixed.length; i++) mixed[i] = (mixed[i] as number) + (plane[i] as number);
  return mixed.map((sum) => sum / planes.length);
}
