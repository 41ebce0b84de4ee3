/**
 * What the voices that came with Kokoro sound like to the speaker encoder: measured once on a machine, by speaking, in the
 * background, and kept in the import cache one voice at a time, so that a run that was cut off goes on where it was.
 */

import { join } from 'node:path';
import { catalogEntry } from '../../../../models/model-files.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import { imported } from '../../cache/import-cache.ts';
import { speakerWeights } from '../../speakers/import/import.ts';
import type { HeardVoice, Preset } from './mix-search.ts';

/** Raise with every change of what is measured, or on what. */
const VERSION = 1;
const FILE = 'heard.json';

/** Texts that voices are tried on, a statement and a question of three seconds each. */
export const TRIAL_TEXTS: readonly string[] = [
  'She asked whether you could bring five copies of the report, please.',
  'When the sun rose over the quiet harbor, was everyone already awake?',
];

export interface PresetTableOptions {
  readonly modelsDir: string;
  /** Voices to measure, those first that are wanted first. */
  readonly names: readonly string[];
  /** Speaks {@link TRIAL_TEXTS} with a voice and listens. */
  readonly measure: (name: string, signal: AbortSignal) => Promise<readonly HeardVoice[]>;
  readonly log: Logger;
}

export class PresetTable {
  readonly #options: PresetTableOptions;
  readonly #presets: Preset[] = [];
  readonly #end = new AbortController();
  #filling: Promise<void> | undefined;

  constructor(options: PresetTableOptions) {
    this.#options = options;
  }

  /** Those that are known by now. */
  get presets(): readonly Preset[] {
    return this.#presets;
  }

  /**
   * Reads what was measured before and measures the rest. Resolves when all is known, or when it has to be left for a
   * later call because a measurement failed; which is logged.
   */
  fill(): Promise<void> {
    this.#filling ??= this.#fillUp().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /** Ends a measurement that runs. Idempotent. */
  async close(): Promise<void> {
    this.#end.abort(new Error('The table of voices is closed.'));
    await this.#filling;
  }

  async #fillUp(): Promise<void> {
    const { signal } = this.#end;
    try {
      for (const name of this.#options.names) {
        if (this.#presets.some((preset) => preset.name === name)) continue;
        signal.throwIfAborted();
        this.#presets.push({ name, heard: await this.#heard(name, signal) });
      }
    } catch (error) {
      if (!signal.aborted) this.#options.log.error('a voice could not be measured', error);
    }
  }

  async #heard(name: string, signal: AbortSignal): Promise<readonly HeardVoice[]> {
    const { modelsDir, measure } = this.#options;
    const voice = catalogEntry('kokoro-voices').files.find((file) => file.name === `${name}.bin`);
    const model = catalogEntry('kokoro-82m-int8').files.map((file) => file.sha256);
    const key = {
      sources: [...model, voice?.sha256 ?? '', speakerWeights()],
      importer: 'kokoro-heard',
      version: VERSION,
      provider: 'any',
    };
    const folder = await imported(
      modelsDir,
      key,
      async (dir) => {
        await Bun.write(join(dir, FILE), JSON.stringify((await measure(name, signal)).map(stored)));
      },
      { keep: catalogEntry('kokoro-voices').files.length, signal },
    );
    return ((await Bun.file(join(folder, FILE)).json()) as Stored[]).map(restored);
  }
}

/** As JSON has it. */
interface Stored {
  readonly embedding: readonly number[];
  readonly pitchHz: number | null;
  readonly seconds: number;
}

function stored({ embedding, pitchHz, seconds }: HeardVoice): Stored {
  return { embedding: [...embedding], pitchHz: pitchHz ?? null, seconds };
}

function restored({ embedding, pitchHz, seconds }: Stored): HeardVoice {
  return { embedding: Float32Array.from(embedding), pitchHz: pitchHz ?? undefined, seconds };
}
