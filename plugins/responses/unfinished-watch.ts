import type { Clock } from '../../src/contract/clock.ts';
import type { Logger } from '../../src/contract/logger.ts';
import type { ResponseStore } from '../../src/contract/response-store.ts';

/** A response that is `in_progress` for so long lost its process; one that did not says so when it ends. */
export const LONGEST_S = 15 * 60;
const EVERY_MS = 60_000;
const AT_ONCE = 100;

export interface WatchParts {
  readonly responses: ResponseStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Ends stored responses whose process is gone, at the start and from time to time: they have `failed`. */
export class UnfinishedWatch {
  readonly #parts: WatchParts;
  readonly #timer: ReturnType<typeof setInterval>;
  #looking: Promise<void>;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#looking = this.#look();
    this.#timer = setInterval(() => {
      this.#looking = this.#looking.then(() => this.#look());
    }, EVERY_MS);
    this.#timer.unref();
  }

  /** Resolves when nothing is looked at any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { responses, clock, log } = this.#parts;
    try {
      const before = Math.floor(clock.now() / 1000) - LONGEST_S;
      const lost = await responses.unfinished(before, AT_ONCE);
      for (const { organization, response } of lost) {
        const error = {
          code: 'server_error',
          message: 'The server stopped before the response was finished.',
        };
        // Without effect on one that has ended meanwhile.
        const failed = { ...response, status: 'failed' as const, error };
        await responses.update(organization, failed);
      }
      if (lost.length > 0) log.warn('responses of a process that is gone', { responses: lost.length });
    } catch (error) {
      log.error('unfinished responses could not be read', error);
    }
  }
}
