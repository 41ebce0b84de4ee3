/**
 * Decodes audio files to mono samples, in a media process. Containers are parsed by mediabunny (TypeScript)
 * and codecs are FFmpeg's (native), so FFmpeg gets only the packets of one stream, never paths or URLs.
 */

import { type AudioSample, AudioSampleSink, type Input, type InputAudioTrack } from 'mediabunny';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { AudioFileInfo } from '../../contract/engines/audio-file.ts';
import { prepend } from '../../kit/async/prepend.ts';
import { containerOf, openMediaFile } from '../process/media-file.ts';
import { type AudioJob, type MediaIssue, rateOf, UnusableMediaError } from '../process/protocol.ts';
import { ALLOWED_RATES, AnyRateResampler, isConvertible } from './any-rate-resampler.ts';
import { declaredLengthS } from './declared-length.ts';
import { SampleBlocks } from './sample-blocks.ts';

/** More than any common microphone array; limits the memory of a packet. */
const MAX_CHANNELS = 64;
/** Decoder overshoot is kept; values of float files above +18 dBFS are clamped. */
const MAX_SAMPLE = 8;
/**
 * Tolerance in seconds: headers are rounded and include encoder padding. Near the limit the decoded samples
 * decide.
 */
const DECLARED_SLACK_S = 1;

/** A file with an audio track whose beginning was decoded. */
export interface OpenTrack {
  readonly info: AudioFileInfo;
  /** Duration according to the headers; undefined if unknown. */
  readonly declaredS: number | undefined;
  /**
   * The remaining decoding: mono samples at the requested rate in blocks of equal length, except the last.
   * @throws UnusableMediaError `broken`, `rate`, `too-many-channels`.
   */
  readonly blocks: AsyncGenerator<Float32Samples, void, undefined>;
}

/**
 * Opens a file and decodes the beginning of its main audio track. `blocks` must be iterated to its end or
 * returned, which closes the file.
 * @param job `rateHz` is the rate of the blocks, 8,000 to 48,000 Hz, or `own`.
 * @throws UnusableMediaError if the content is not decodable audio or declares a duration above the limit; the
 * system's error if the path cannot be opened.
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
    if (first.done) throw new UnusableMediaError({ kind: 'no-samples', container });
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

/** Decoded samples, of which the frames in [from, to) are inside the track. */
interface AudibleSample {
  readonly sample: AudioSample;
  readonly from: number;
  readonly to: number;
}

async function audioTrackOf(
  input: Input,
): Promise<{ readonly track: InputAudioTrack; readonly container: string; readonly codec: string }> {
  const container = await containerOf(input);
  if (container === undefined) throw new UnusableMediaError({ kind: 'unknown-format' });
  try {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw new UnusableMediaError({ kind: 'no-audio', container });
    const codec = await track.getCodec();
    if (codec === null || !(await track.canDecode())) {
      throw new UnusableMediaError({ kind: 'unknown-codec', container, codec: codec ?? 'unknown' });
    }
    checkShape({
      container,
      codec,
      rateHz: await track.getSampleRate(),
      channels: await track.getNumberOfChannels(),
    });
    return { track, container, codec };
  } catch (error) {
    if (error instanceof UnusableMediaError) throw error;
    throw new UnusableMediaError(badContainer(container, error), error);
  }
}

/**
 * Messages of the library about WAV headers contain only numbers and are shown; other messages may quote the
 * file.
 */
function badContainer(container: string, error: unknown): MediaIssue {
  const message = error instanceof Error ? error.message : '';
  return /^(Unsupported|Invalid) WAVE /.test(message)
    ? { kind: 'bad-container', container, detail: message }
    : { kind: 'bad-container', container };
}

function checkShape({ rateHz, channels }: AudioFileInfo): void {
  if (!isConvertible(rateHz)) throw new UnusableMediaError({ kind: 'rate', rateHz, allowed: ALLOWED_RATES });
  if (channels > MAX_CHANNELS) {
    throw new UnusableMediaError({ kind: 'too-many-channels', channels, max: MAX_CHANNELS });
  }
}

function checkLength(declaredS: number | undefined, maxS: number): void {
  if (declaredS === undefined || declaredS < maxS + DECLARED_SLACK_S) return;
  throw new UnusableMediaError({ kind: 'too-long', declaredS, maxS });
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

/** Decoded samples between the start of the track, which excludes the encoder delay, and its end. */
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
    throw new UnusableMediaError({ kind: 'broken', ...names }, error);
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
    if (blocks.taken === 0) throw new UnusableMediaError({ kind: 'no-samples', container: info.container });
    const rest = blocks.rest();
    if (rest.length > 0) yield rest;
  } finally {
    await samples.return();
    await end();
  }
}

/** Mono samples at the requested rate. The rate and channels of a track may change in the middle. */
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

/** Mean of all channels, whose level never exceeds that of the loudest channel. */
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
    // Float files may contain NaN, which becomes silence.
    mixed[i] = Number.isNaN(value) ? 0 : Math.max(-MAX_SAMPLE, Math.min(MAX_SAMPLE, value));
  }
  return mixed;
}
