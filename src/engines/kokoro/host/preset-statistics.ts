/**
 * Has the norm statistics of the preset voices measured, which mixes of them need for their full quality
 * (docs/decisions/stored-voices.md). A measurement takes seconds and is cached per machine, so it is work of a
 * low-priority process that starts after the service.
 */

import type { Logger } from '../../../contract/core/logger.ts';

/** The start of the service comes first. */
const DELAY_MS = 60_000;

export interface PresetStatisticsOptions {
  /** Voices to measure, in this order. */
  readonly names: readonly string[];
  /** Whether the statistics of a voice are cached. */
  readonly isMeasured: (name: string) => Promise<boolean>;
  /** Measures and caches the statistics of a voice. */
  readonly measure: (name: string, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
  readonly delayMs?: number;
}

export class PresetStatistics {
  readonly #options: PresetStatisticsOptions;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: PresetStatisticsOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => {
      this.#running = this.#measureMissing();
    }, options.delayMs ?? DELAY_MS);
    this.#timer.unref();
  }

  /** Cancels a running measurement. Idempotent. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closed.abort(new Error('The measurement of the preset voices is closed.'));
    await this.#running;
  }

  /** A failure is logged; the next start continues. */
  async #measureMissing(): Promise<void> {
    const { names, isMeasured, measure, log } = this.#options;
    const { signal } = this.#closed;
    try {
      for (const name of names) {
        if (await isMeasured(name)) continue;
        signal.throwIfAborted();
        await measure(name, signal);
      }
    } catch (error) {
      if (!signal.aborted) log.error('preset voice measurement failed', error);
    }
  }
}
