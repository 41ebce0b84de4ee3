/** Decodes audio files to mono samples, in a media process. */

import { open } from 'node:fs/promises';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { AudioFileInfo } from '../../contract/engines/audio-file.ts';
import { type Started, started } from '../../kit/async/started.ts';
import { fileBytes } from '../process/byte-source.ts';
import { type AudioJob, rateOf, UnusableMediaError } from '../process/protocol.ts';
import { AnyRateResampler } from './any-rate-resampler.ts';
import { type AudioRun, type AudioSource, checkShape } from './audio-source.ts';
import { ChannelMixer } from './channel-mixer.ts';
import { openAudioSource } from './open-source.ts';
import { SampleBlocks } from './sample-blocks.ts';

/**
 * Tolerance in seconds: headers are rounded and include encoder padding. Near the limit the decoded samples
 * decide.
 */
const DECLARED_SLACK_S = 1;

/** A file with an audio track whose beginning was decoded. */
export interface OpenTrack {
  readonly info: AudioFileInfo;
  /** Duration according to the headers, otherwise estimated from the size; undefined if unknown. */
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
  const file = await open(path, 'r');
  let source: AudioSource | undefined;
  const end = async () => {
    await source?.close();
    await file.close();
  };
  try {
    source = await openAudioSource(await fileBytes(file));
    const { container, codec } = source.info;
    checkShape(source.info);
    checkLength(source.declaredS, maxS);
    const runs = await started(source.runs());
    if (runs === undefined) throw new UnusableMediaError({ kind: 'no-samples', container });
    // Decoders know the rate and the channels better than headers, for example in AAC with SBR.
    const info = { container, codec, rateHz: runs.first.rateHz, channels: runs.first.channels.length };
    checkShape(info);
    const blocks = blocksOf(runs, info, rateOf(rateHz, info.rateHz), blockSamples, end);
    return { info, declaredS: source.declaredS ?? source.estimatedS, blocks };
  } catch (error) {
    await end();
    throw error;
  }
}

function checkLength(declaredS: number | undefined, maxS: number): void {
  if (declaredS === undefined || declaredS < maxS + DECLARED_SLACK_S) return;
  throw new UnusableMediaError({ kind: 'too-long', declaredS, maxS });
}

async function* blocksOf(
  runs: Started<AudioRun>,
  info: AudioFileInfo,
  rateHz: number,
  blockSamples: number,
  end: () => Promise<void>,
): AsyncGenerator<Float32Samples, void, undefined> {
  const blocks = new SampleBlocks(blockSamples);
  try {
    for await (const run of monoRuns(runs, rateHz)) yield* blocks.push(run);
    if (blocks.taken === 0) throw new UnusableMediaError({ kind: 'no-samples', container: info.container });
    const rest = blocks.rest();
    if (rest.length > 0) yield rest;
  } finally {
    await runs.return();
    await end();
  }
}

/** Mono samples at the requested rate. The rate and channels of a track may change in the middle. */
async function* monoRuns(
  runs: Started<AudioRun>,
  rateHz: number,
): AsyncGenerator<Float32Samples, void, undefined> {
  const mixer = new ChannelMixer();
  let resampler = new AnyRateResampler(runs.first.rateHz, rateHz);
  try {
    for await (const { rateHz: fromHz, channels } of runs) {
      checkShape({ rateHz: fromHz, channels: channels.length });
      if (fromHz !== resampler.fromHz) {
        yield* resampler.flush();
        resampler.close();
        resampler = new AnyRateResampler(fromHz, rateHz);
      }
      yield resampler.push(mixer.mix(channels, fromHz));
    }
    yield* resampler.flush();
  } finally {
    resampler.close();
  }
}
