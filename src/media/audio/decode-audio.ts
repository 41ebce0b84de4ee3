/**
 * Audio files to mono samples, inside a media process. The containers are read by mediabunny, which is
 * TypeScript, the codecs are FFmpeg's, which is not: so FFmpeg sees packets of one stream and nothing else,
 * neither paths nor addresses.
 */

import { type AudioSample, AudioSampleSink, type Input, type InputAudioTrack } from 'mediabunny';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { AudioFileInfo } from '../../contract/engines/audio-file.ts';
import { prepend } from '../../kit/async/prepend.ts';
import { containerOf, openMediaFile } from '../process/media-file.ts';
import { type AudioJob, type MediaFault, MediaFaultError, rateOf } from '../process/protocol.ts';
import { ALLOWED_RATES, AnyRateResampler, isConvertible } from './any-rate-resampler.ts';
import { declaredLengthS } from './declared-length.ts';
import { SampleBlocks } from './sample-blocks.ts';

/** More than any microphone array in use; what it bounds is the memory of one packet. */
const MAX_CHANNELS = 64;
/** Decoded overshoots stay as they are; what a float file holds beyond 18 dB over full scale is no audio. */
const LARGEST_SAMPLE = 8;
/** Headers round, and count what encoders put before and after: closer to the limit the decoded samples decide. */
const DECLARED_SLACK_S = 1;

/** A file with an audio track whose beginning was decoded. */
export interface OpenTrack {
  readonly info: AudioFileInfo;
  /** Length by the headers; undefined when they say nothing. */
  readonly declaredS: number | undefined;
  /**
   * The rest of the work: mono samples at the rate asked for, in blocks of one length but the last.
   * @throws MediaFaultError `broken`, `rate`, `too-many-channels`.
   */
  readonly blocks: AsyncGenerator<Float32Samples, void, undefined>;
}

/**
 * Opens a file and decodes the beginning of its main audio track. `blocks` must be run or returned: it closes the
 * file.
 * @param job `rateHz` is the rate of the blocks, 8,000 to 48,000 Hz, or `own`.
 * @throws MediaFaultError when the content is not audio that can be decoded, or declares to be too long; the
 *   system's error when the path cannot be opened.
 */
export async function openTrack({ path, rateHz, blockSamples, maxS }: AudioJob): Promise<OpenTrack> {
  const { input, file, close: end } = await openMediaFile(path);
  try {
    const { track, container, codec } = await audioTrackOf(input);
    const endS = container === 'ogg' ? await endOf(track) : Number.POSITIVE_INFINITY;
    const declaredS = await declaredLengthS(track, container, file, endS);
    checkLength(declaredS, maxS);
    const samples = audibleSamples(track, endS, { container, codec });
    const first = await samples.next();
    if (first.done) throw new MediaFaultError({ kind: 'no-samples', container });
    const { sampleRate, numberOfChannels } = first.value.sample;
    const info = { container, codec, rateHz: sampleRate, channels: numberOfChannels };
    checkShape(info);
    const blocks = blocksOf(first.value, samples, info, rateOf(rateHz, sampleRate), blockSamples, end);
    return { info, declaredS, blocks };
  } catch (error) {
    await end();
    throw error;
  }
}

/** A decoded run, of which the frames from `from` to before `to` lie inside the track. */
interface AudibleSample {
  readonly sample: AudioSample;
  readonly from: number;
  readonly to: number;
}

async function audioTrackOf(
  input: Input,
): Promise<{ readonly track: InputAudioTrack; readonly container: string; readonly codec: string }> {
  const container = await containerOf(input);
  if (container === undefined) throw new MediaFaultError({ kind: 'unknown-format' });
  try {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw new MediaFaultError({ kind: 'no-audio', container });
    const codec = await track.getCodec();
    if (codec === null || !(await track.canDecode())) {
      throw new MediaFaultError({ kind: 'unknown-codec', container, codec: codec ?? 'unknown' });
    }
    checkShape({
      container,
      codec,
      rateHz: await track.getSampleRate(),
      channels: await track.getNumberOfChannels(),
    });
    return { track, container, codec };
  } catch (error) {
    if (error instanceof MediaFaultError) throw error;
    throw new MediaFaultError(badContainer(container, error), error);
  }
}

/** The library's words about WAV headers say what was found, in numbers alone; others may quote the file. */
function badContainer(container: string, error: unknown): MediaFault {
  const message = error instanceof Error ? error.message : '';
  return /^(Unsupported|Invalid) WAVE /.test(message)
    ? { kind: 'bad-container', container, detail: message }
    : { kind: 'bad-container', container };
}

function checkShape({ rateHz, channels }: AudioFileInfo): void {
  if (!isConvertible(rateHz)) throw new MediaFaultError({ kind: 'rate', rateHz, allowed: ALLOWED_RATES });
  if (channels > MAX_CHANNELS) {
    throw new MediaFaultError({ kind: 'too-many-channels', channels, most: MAX_CHANNELS });
  }
}

function checkLength(declaredS: number | undefined, maxS: number): void {
  if (declaredS === undefined || declaredS < maxS + DECLARED_SLACK_S) return;
  throw new MediaFaultError({ kind: 'too-long', declaredS, maxS });
}

/**
 * Where a track ends, in seconds from its start. The last page of an Ogg file tells how much of its last packet
 * counts, which the library's decoders give in full.
 */
async function endOf(track: InputAudioTrack): Promise<number> {
  try {
    return await track.computeDuration();
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Decoded runs with something between the start of the track, before which encoders put their delay, and its end. */
async function* audibleSamples(
  track: InputAudioTrack,
  endS: number,
  names: { readonly container: string; readonly codec: string },
): AsyncGenerator<AudibleSample, void, undefined> {
  try {
    for await (const sample of new AudioSampleSink(track).samples()) {
      const { timestamp, sampleRate, numberOfFrames } = sample;
      const from = Math.max(0, Math.round(-timestamp * sampleRate));
      const to = Math.min(numberOfFrames, Math.round((endS - timestamp) * sampleRate));
      if (from < to) yield { sample, from, to };
      sample.close();
    }
  } catch (error) {
    throw new MediaFaultError({ kind: 'broken', ...names }, error);
  }
}

async function* blocksOf(
  first: AudibleSample,
  samples: AsyncGenerator<AudibleSample, void, undefined>,
  info: AudioFileInfo,
  rateHz: number,
  blockSamples: number,
  end: () => Promise<void>,
): AsyncGenerator<Float32Samples, void, undefined> {
  const blocks = new SampleBlocks(blockSamples);
  try {
    for await (const run of monoRuns(first, samples, info, rateHz)) yield* blocks.push(run);
    if (blocks.taken === 0) throw new MediaFaultError({ kind: 'no-samples', container: info.container });
    const rest = blocks.rest();
    if (rest.length > 0) yield rest;
  } finally {
    await samples.return();
    await end();
  }
}

/** Mono runs at the wanted rate. The rate and the channels of a track may change on the way. */
async function* monoRuns(
  first: AudibleSample,
  samples: AsyncGenerator<AudibleSample, void, undefined>,
  info: AudioFileInfo,
  rateHz: number,
): AsyncGenerator<Float32Samples, void, undefined> {
  let resampler = new AnyRateResampler(first.sample.sampleRate, rateHz);
  try {
    for await (const audible of prepend(first, samples)) {
      const { sampleRate, numberOfChannels } = audible.sample;
      checkShape({ ...info, rateHz: sampleRate, channels: numberOfChannels });
      if (sampleRate !== resampler.fromHz) {
        yield* resampler.flush();
        resampler.close();
        resampler = new AnyRateResampler(sampleRate, rateHz);
      }
      yield resampler.push(mixedDown(audible));
    }
    yield* resampler.flush();
  } finally {
    resampler.close();
  }
}

/** Mean of all channels, which cannot pass the loudest of them. */
function mixedDown({ sample, from, to }: AudibleSample): Float32Samples {
  const mixed = new Float32Array(to - from);
  const plane = new Float32Array(to - from);
  const part = { format: 'f32-planar', frameOffset: from, frameCount: to - from } as const;
  for (let planeIndex = 0; planeIndex < sample.numberOfChannels; planeIndex++) {
    sample.copyTo(plane, { ...part, planeIndex });
    for (let i = 0; i < mixed.length; i++) mixed[i] = (mixed[i] as number) + (plane[i] as number);
  }
  for (let i = 0; i < mixed.length; i++) {
    const value = (mixed[i] as number) / sample.numberOfChannels;
    // NaN, which only float files hold, becomes silence.
    mixed[i] = Number.isNaN(value) ? 0 : Math.max(-LARGEST_SAMPLE, Math.min(LARGEST_SAMPLE, value));
  }
  return mixed;
}
