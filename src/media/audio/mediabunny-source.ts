/** Audio tracks of the containers that mediabunny (TypeScript) parses; it passes packets to FFmpeg's decoders. */

import { type AudioSample, AudioSampleSink, type Input, type InputAudioTrack } from 'mediabunny';
import type { ByteSource } from '../process/byte-source.ts';
import { containerOf, mediaInput } from '../process/media-file.ts';
import { UnusableMediaError } from '../process/protocol.ts';
import type { AudioRun, AudioSource } from './audio-source.ts';
import { declaredLengthS } from './declared-length.ts';

/**
 * Opens the main audio track of a file.
 * @throws UnusableMediaError `unknown-format`, `bad-container`, `no-audio`, `unknown-codec`.
 */
export async function openMediabunnySource(bytes: ByteSource): Promise<AudioSource> {
  const input = mediaInput(bytes);
  try {
    const { track, container, codec } = await audioTrackOf(input);
    const endS = container === 'ogg' ? await endOf(track) : Number.POSITIVE_INFINITY;
    const [rateHz, channels] = await parsed(container, () =>
      Promise.all([track.getSampleRate(), track.getNumberOfChannels()]),
    );
    return {
      info: { container, codec, rateHz, channels },
      declaredS: await declaredLengthS(track, container, bytes, endS),
      runs: () => audibleRuns(track, endS, { container, codec }),
      close: async () => input.dispose(),
    };
  } catch (error) {
    input.dispose();
    throw error;
  }
}

async function audioTrackOf(
  input: Input,
): Promise<{ readonly track: InputAudioTrack; readonly container: string; readonly codec: string }> {
  const container = await containerOf(input);
  if (container === undefined) throw new UnusableMediaError({ kind: 'unknown-format' });
  return await parsed(container, async () => {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw new UnusableMediaError({ kind: 'no-audio', container });
    const codec = await track.getCodec();
    if (codec !== null && (await track.canDecode())) return { track, container, codec };
    const id = codec ?? (await track.getInternalCodecId());
    throw new UnusableMediaError({
      kind: 'unknown-codec',
      container,
      codec: typeof id === 'string' && /^[\w./-]{1,32}$/.test(id) ? id : 'unknown',
    });
  });
}

/** Runs code that parses a container. The messages of the library may quote the file, so they are not shown. */
async function parsed<T>(container: string, parse: () => Promise<T>): Promise<T> {
  try {
    return await parse();
  } catch (error) {
    if (error instanceof UnusableMediaError) throw error;
    throw new UnusableMediaError({ kind: 'bad-container', container }, error);
  }
}

/**
 * End of a track in seconds from its start. The last page of an Ogg file defines how much of its last packet
 * is valid; the library's decoders return the whole packet.
 */
async function endOf(track: InputAudioTrack): Promise<number> {
  try {
    return await track.computeDuration();
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Decoded audio between the start of the track, which excludes the encoder delay, and its end. */
async function* audibleRuns(
  track: InputAudioTrack,
  endS: number,
  names: { readonly container: string; readonly codec: string },
): AsyncGenerator<AudioRun, void, undefined> {
  try {
    for await (const sample of new AudioSampleSink(track).samples()) {
      const { timestamp, sampleRate, numberOfFrames } = sample;
      const from = Math.max(0, Math.round(-timestamp * sampleRate));
      const to = Math.min(numberOfFrames, Math.round((endS - timestamp) * sampleRate));
      if (from < to) yield { rateHz: sampleRate, channels: planesOf(sample, from, to) };
      sample.close();
    }
  } catch (error) {
    throw new UnusableMediaError({ kind: 'broken', ...names }, error);
  }
}

function planesOf(sample: AudioSample, from: number, to: number): Float32Array<ArrayBuffer>[] {
  return Array.from({ length: sample.numberOfChannels }, (_, planeIndex) => {
    const plane = new Float32Array(to - from);
    sample.copyTo(plane, { format: 'f32-planar', frameOffset: from, frameCount: to - from, planeIndex });
    return plane;
  });
}
