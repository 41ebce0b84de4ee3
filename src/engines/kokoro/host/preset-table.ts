/**
 * Speaker embedding, pitch and pace of Kokoro's preset voices. They are measured once per machine, in the background, on
 * synthesized speech. Each voice is stored in the import cache separately, so an interrupted measurement resumes.
 */

import { join } from 'node:path';
import { catalogEntry } from '../../../../models/model-files.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import { importOnce } from '../../cache/import-cache.ts';
import { speakerWeights } from '../../speakers/import/import.ts';
import type { MeasuredPreset, VoiceMeasurement } from './mix-search.ts';

/** Increment when the measurements or the trial texts change. */
const VERSION = 1;
const FILE = 'heard.json';

/** Texts on which voices are measured: a statement and a question of about three seconds each. */
export const TRIAL_TEXTS: readonly string[] = [
  'She asked whether you could bring five copies of the report, please.',
  'When the sun rose over the quiet harbor, was everyone already awake?',
];

export interface PresetTableOptions {
  readonly modelsDir: string;
  /** Voices to measure, in this order. */
  readonly names: readonly string[];
  /** Synthesizes {@link TRIAL_TEXTS} with a voice and measures the audio. */
  readonly measure: (name: string, signal: AbortSignal) => Promise<readonly VoiceMeasurement[]>;
  readonly log: Logger;
}

export class PresetTable {
  readonly #options: PresetTableOptions;
  readonly #presets: MeasuredPreset[] = [];
  readonly #closed = new AbortController();
  #filling: Promise<void> | undefined;

  constructor(options: PresetTableOptions) {
    this.#options = options;
  }

  /** The presets that are measured so far. */
  get presets(): readonly MeasuredPreset[] {
    return this.#presets;
  }

  /**
   * Reads the cached measurements and measures the remaining voices. Resolves when all are available, or after a
   * measurement failed. The failure is logged, and the next call continues.
   */
  fill(): Promise<void> {
    this.#filling ??= this.#measureMissing().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /** Cancels a running measurement. Idempotent. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The preset table is closed.'));
    await this.#filling;
  }

  async #measureMissing(): Promise<void> {
    const { signal } = this.#closed;
    try {
      for (const name of this.#options.names) {
        if (this.#presets.some((preset) => preset.name === name)) continue;
        signal.throwIfAborted();
        this.#presets.push({ name, measurements: await this.#measurementsOf(name, signal) });
      }
    } catch (error) {
      if (!signal.aborted) this.#options.log.error('preset voice measurement failed', error);
    }
  }

  async #measurementsOf(name: string, signal: AbortSignal): Promise<readonly VoiceMeasurement[]> {
    const { modelsDir, measure } = this.#options;
    const voice = catalogEntry('kokoro-voices').files.find((file) => file.name === `${name}.bin`);
    const model = catalogEntry('kokoro-82m-int8').files.map((file) => file.sha256);
    const key = {
      sources: [...model, voice?.sha256 ?? '', speakerWeights()],
      importer: 'kokoro-heard',
      version: VERSION,
      provider: 'any',
    };
    const folder = await importOnce(
      modelsDir,
      key,
      async (dir) => {
        await Bun.write(
          join(dir, FILE),
          JSON.stringify((await measure(name, signal)).map(encodeMeasurement)),
        );
      },
      { keep: catalogEntry('kokoro-voices').files.length, signal },
    );
    return ((await Bun.file(join(folder, FILE)).json()) as StoredMeasurement[]).map(decodeMeasurement);
  }
}

/** JSON form of a {@link VoiceMeasurement}. */
interface StoredMeasurement {
  readonly embedding: readonly number[];
  readonly pitchHz: number | null;
  readonly seconds: number;
}

function encodeMeasurement({ embedding, pitchHz, seconds }: VoiceMeasurement): StoredMeasurement {
  return { embedding: [...embedding], pitchHz: pitchHz ?? null, seconds };
}

function decodeMeasurement({ embedding, pitchHz, seconds }: StoredMeasurement): VoiceMeasurement {
  return { embedding: Float32Array.from(embedding), pitchHz: pitchHz ?? undefined, seconds };
}
