/**
 * Stored voices for Kokoro: fits a mix of its preset voices to the speaker of a clip (docs/decisions/stored-voices.md).
 * The search runs in the server process; synthesis and measurement are jobs of the inference pools.
 */

import { concatenate } from '../../../audio/concatenate.ts';
import type { Clock } from '../../../contract/core/clock.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { SpeakerPrint, VoiceFitter, VoiceWork } from '../../../contract/engines/voice.ts';
import { waitForAbort } from '../../../kit/async/wait-for-abort.ts';
import type { InferencePool } from '../../pool/inference-pool.ts';
import type { ModelVoice, SpeechDescription, SpeechRequest } from '../../pool/model.ts';
import { encodeVoice } from '../../speakers/host/voice-print.ts';
import { type KokoroMix, readMix, writeMix } from '../shared/voice-mix.ts';
import { initialMix, MixSearch, type VoiceMeasurement } from './mix-search.ts';
import { PresetTable, TRIAL_TEXTS } from './preset-table.ts';

/** Fixed, so that the same clip always gives the same mix. */
const SEED = 1;
/**
 * Candidates that are measured even after the time budget is used up: the start mix and the mixes that are predicted
 * from the speaker embeddings.
 */
const MIN_CANDIDATES = 5;
/** Time after the start before the presets are measured, unless a stored voice needs them earlier. */
const MEASURE_DELAY_MS = 60_000;
/** The measurement of the presets is not done for an API key. */
const SYSTEM_WORK: VoiceWork = { priority: 'batch', fairnessKey: '' };

export interface KokoroFitterOptions {
  /** Names of the models in the pools. */
  readonly models: { readonly speech: string; readonly speakers: string };
  /** Pool that serves requests; provides the sample rate of the speech model. */
  readonly pool: Pick<InferencePool, 'description'>;
  /** Low-priority pool that runs the jobs. Both pools must outlive the fitter. */
  readonly backgroundPool: Pick<InferencePool, 'runJob'>;
  /** Voice of requests without a voice. */
  readonly defaultVoice: string;
  /** Preset voices to mix. */
  readonly presets: readonly string[];
  readonly modelsDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** For configurations without a model that supports fitted voices. */
export const NO_FITTER: VoiceFitter = {
  isNeeded: false,
  isCurrent: () => false,
  createInitial() {
    throw noFittedModelError();
  },
  // biome-ignore lint/correctness/useYield: it always throws.
  async *improveAdaptation() {
    throw noFittedModelError();
  },
};

function noFittedModelError(): Error {
  return new Error('no configured model supports fitted voices');
}

/** Creates the fitter. In its first idle minutes it measures the preset voices that are not yet measured on this machine. */
export function kokoroFitter(options: KokoroFitterOptions): VoiceFitter & { close(): Promise<void> } {
  return new KokoroFitter(options);
}

class KokoroFitter implements VoiceFitter {
  readonly isNeeded = true;
  readonly #table: PresetTable;
  readonly #options: KokoroFitterOptions;
  readonly #measureTimer: ReturnType<typeof setTimeout>;

  constructor(options: KokoroFitterOptions) {
    const { modelsDir, log, defaultVoice, presets } = options;
    this.#options = options;
    this.#table = new PresetTable({
      modelsDir,
      names: [defaultVoice, ...presets.filter((name) => name !== defaultVoice)],
      measure: async (name, signal) => {
        const measurements: VoiceMeasurement[] = [];
        for (const text of TRIAL_TEXTS) {
          measurements.push(await this.#measureVoice(text, { kind: 'preset', name }, SYSTEM_WORK, signal));
        }
        return measurements;
      },
      log,
    });
    this.#measureTimer = setTimeout(() => void this.#table.fill(), MEASURE_DELAY_MS);
    this.#measureTimer.unref();
  }

  isCurrent(adaptation: string): boolean {
    return readMix(adaptation) !== undefined;
  }

  createInitial(speaker: SpeakerPrint): string {
    if (this.#table.presets.length > 0) return writeMix(initialMix(speaker, this.#table.presets));
    const alone = { [this.#options.defaultVoice]: 1 };
    return writeMix({ timbre: alone, prosody: alone, pitchScale: 1 });
  }

  async *improveAdaptation(
    samples: Float32Samples,
    from: string,
    budgetMs: number,
    fairnessKey: string,
    signal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    const { backgroundPool, models, clock } = this.#options;
    const work: VoiceWork = { priority: 'batch', fairnessKey };
    await Promise.race([this.#table.fill(), waitForAbort(signal)]);
    signal.throwIfAborted();
    if (this.#table.presets.length === 0) return;
    const target = await encodeVoice(
      backgroundPool,
      models.speakers,
      { samples, rateHz: LISTEN_RATE_HZ },
      work,
      signal,
    );
    // The budget starts here, because the processes have loaded their models by now.
    const deadlineMs = clock.monotonicMs() + budgetMs;
    const start = readMix(from) ?? initialMix(target, this.#table.presets);
    const search = new MixSearch(target, this.#table.presets, start, SEED);
    const isInBudget = (count: number) => count < MIN_CANDIDATES || clock.monotonicMs() < deadlineMs;
    for (let count = 0; !search.isFinished && isInBudget(count); count++) {
      const mix = search.nextCandidate();
      const isBest = search.recordCandidate(mix, await this.#measureCandidate(mix, search, work, signal));
      // The first candidate is the start mix itself.
      if (isBest && count > 0) yield writeMix(mix);
    }
  }

  close(): Promise<void> {
    clearTimeout(this.#measureTimer);
    return this.#table.close();
  }

  /** Measures the trial texts in order, and stops early if the candidate is not promising. */
  async #measureCandidate(
    mix: KokoroMix,
    search: MixSearch,
    work: VoiceWork,
    signal: AbortSignal,
  ): Promise<VoiceMeasurement[]> {
    const measurements: VoiceMeasurement[] = [];
    const voice = { kind: 'adaptation', adaptation: writeMix(mix) } as const;
    for (const text of TRIAL_TEXTS) {
      if (measurements.length > 0 && !search.isPromising(measurements)) break;
      measurements.push(await this.#measureVoice(text, voice, work, signal));
    }
    return measurements;
  }

  async #measureVoice(
    text: string,
    voice: ModelVoice,
    work: VoiceWork,
    signal: AbortSignal,
  ): Promise<VoiceMeasurement> {
    const { backgroundPool, pool, models } = this.#options;
    const { rateHz } = pool.description<SpeechDescription>(models.speech);
    const request = { text, voice, speed: 1, delivery: 'whole' } as const;
    const chunks: Float32Samples[] = [];
    const job = { request, ...work, delivery: 'whole' } as const;
    for await (const chunk of backgroundPool.runJob<SpeechRequest, Float32Samples>(
      models.speech,
      job,
      signal,
    ))
      chunks.push(chunk);
    const samples = concatenate(chunks);
    const print = await encodeVoice(backgroundPool, models.speakers, { samples, rateHz }, work, signal);
    return { embedding: print.embedding, pitchHz: print.pitchHz, seconds: samples.length / rateHz };
  }
}
