/**
 * Stored voices for Kokoro: a mix of its own voices is brought near to the speaker of a clip
 * (docs/decisions/stored-voices.md). The search is decided here, in the serving process; speaking and listening are jobs of
 * pools.
 */

import type { Clock } from '../../../contract/core/clock.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { SpeakerPrint, VoiceFitter, VoiceWork } from '../../../contract/engines/voice.ts';
import { aborted } from '../../../kit/async/aborted.ts';
import type { InferencePool } from '../../pool/inference-pool.ts';
import type { PassVoice, SpeechDescription, SpeechRequest } from '../../pool/model.ts';
import { voicePrint } from '../../speakers/host/voice-print.ts';
import { type KokoroMix, readMix, writeMix } from '../shared/voice-mix.ts';
import { firstMix, type HeardVoice, MixSearch } from './mix-search.ts';
import { PresetTable, TRIAL_TEXTS } from './preset-table.ts';

/** The same clip is fitted the same way. */
const SEED = 1;
/**
 * Mixes that are tried however little of the machine is left for it: that which was given, and those that the voice prints
 * speak for.
 */
const MIN_TRIES = 5;
/** For whom the table is made: for nobody's key. */
const OWN_WORK: VoiceWork = { priority: 'batch', owner: '' };

export interface KokoroFitterOptions {
  /** Names in the pools. */
  readonly models: { readonly speech: string; readonly speakers: string };
  /** Knows the rate of the speech. */
  readonly pool: Pick<InferencePool, 'description'>;
  /** Where nobody waits; both outlive the fitter. */
  readonly lastPool: Pick<InferencePool, 'run'>;
  /** Voice of requests that name none. */
  readonly defaultVoice: string;
  /** Voices to mix. */
  readonly presets: readonly string[];
  readonly modelsDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Where no model of CONFIG is fitted to voices. */
export const NO_FITTER: VoiceFitter = {
  isNeeded: false,
  isCurrent: () => false,
  begin() {
    throw unneeded();
  },
  // biome-ignore lint/correctness/useYield: it has nothing to give.
  async *improve() {
    throw unneeded();
  },
};

function unneeded(): Error {
  return new Error('no model here is fitted to voices');
}

/** Begins to measure the model's own voices, where that was not done on this machine. */
export function kokoroFitter(options: KokoroFitterOptions): VoiceFitter & { close(): Promise<void> } {
  const fitter = new KokoroFitter(options);
  void fitter.table.fill();
  return fitter;
}

class KokoroFitter implements VoiceFitter {
  readonly isNeeded = true;
  readonly table: PresetTable;
  readonly #options: KokoroFitterOptions;

  constructor(options: KokoroFitterOptions) {
    const { modelsDir, log, defaultVoice, presets } = options;
    this.#options = options;
    this.table = new PresetTable({
      modelsDir,
      names: [defaultVoice, ...presets.filter((name) => name !== defaultVoice)],
      measure: async (name, signal) => {
        const heard: HeardVoice[] = [];
        for (const text of TRIAL_TEXTS) {
          heard.push(await this.#hear(text, { kind: 'preset', name }, OWN_WORK, signal));
        }
        return heard;
      },
      log,
    });
  }

  isCurrent(adaptation: string): boolean {
    return readMix(adaptation) !== undefined;
  }

  begin(speaker: SpeakerPrint): string {
    if (this.table.presets.length > 0) return writeMix(firstMix(speaker, this.table.presets));
    const alone = { [this.#options.defaultVoice]: 1 };
    return writeMix({ timbre: alone, prosody: alone, pitchScale: 1 });
  }

  async *improve(
    samples: Float32Samples,
    from: string,
    budgetMs: number,
    owner: string,
    signal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    const { lastPool, models, clock } = this.#options;
    const work: VoiceWork = { priority: 'batch', owner };
    await Promise.race([this.table.fill(), aborted(signal)]);
    signal.throwIfAborted();
    if (this.table.presets.length === 0) return;
    const target = await voicePrint(
      lastPool,
      models.speakers,
      { samples, rateHz: LISTEN_RATE_HZ },
      work,
      signal,
    );
    // The processes have their models by now.
    const untilMs = clock.monotonicMs() + budgetMs;
    const start = readMix(from) ?? firstMix(target, this.table.presets);
    const search = new MixSearch(target, this.table.presets, start, SEED);
    const goesOn = (tries: number) => tries < MIN_TRIES || clock.monotonicMs() < untilMs;
    for (let tries = 0; !search.isOver && goesOn(tries); tries++) {
      const mix = search.next();
      const isBest = search.heard(mix, await this.#try(mix, search, work, signal));
      // The first is what it came from.
      if (isBest && tries > 0) yield writeMix(mix);
    }
  }

  close(): Promise<void> {
    return this.table.close();
  }

  /** Speaks the trial texts, as long as there is hope. */
  async #try(mix: KokoroMix, search: MixSearch, work: VoiceWork, signal: AbortSignal): Promise<HeardVoice[]> {
    const heard: HeardVoice[] = [];
    for (const text of TRIAL_TEXTS) {
      if (heard.length > 0 && !search.isPromising(heard)) break;
      heard.push(await this.#hear(text, { kind: 'adaptation', adaptation: writeMix(mix) }, work, signal));
    }
    return heard;
  }

  async #hear(text: string, voice: PassVoice, work: VoiceWork, signal: AbortSignal): Promise<HeardVoice> {
    const { lastPool, pool, models } = this.#options;
    const { rateHz } = pool.description<SpeechDescription>(models.speech);
    const request = { text, voice, speed: 1, delivery: 'whole' } as const;
    const runs: Float32Samples[] = [];
    const job = { request, ...work, delivery: 'whole' } as const;
    for await (const run of lastPool.run<SpeechRequest, Float32Samples>(models.speech, job, signal))
      runs.push(run);
    const samples = joined(runs);
    const print = await voicePrint(lastPool, models.speakers, { samples, rateHz }, work, signal);
    return { embedding: print.embedding, pitchHz: print.pitchHz, seconds: samples.length / rateHz };
  }
}

function joined(runs: readonly Float32Samples[]): Float32Samples {
  const all = new Float32Array(runs.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const run of runs) {
    all.set(run, at);
    at += run.length;
  }
  return all;
}
