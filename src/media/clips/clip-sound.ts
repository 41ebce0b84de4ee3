import { type AudioSample, AudioSampleSink } from 'mediabunny';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import { ClipFaultError } from '../process/clip-protocol.ts';
import type { AudioTrack } from './open-clip.ts';

/** A run of a clip's sound. */
export interface ClipSound {
  readonly rateHz: number;
  /** One or two planes of one length; more channels than two are mixed to the mean of them all. */
  readonly channels: readonly Float32Samples[];
}

/** Codecs need what comes before a packet to decode it right. */
const LEAD_S = 0.1;

/**
 * The sound of a clip between two times, in runs without gaps.
 * @param fromS from the clip's start, in seconds; negative: from its start.
 * @param toS what comes later is left out, as is what lies after the end by the file's index.
 * @throws ClipFaultError `broken`.
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
    throw new ClipFaultError({ kind: 'broken', track: 'audio', codec }, error);
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
