import type { Clock } from '../../contract/core/clock.ts';

/**
 * Time in ms after the first signal in which further signals belong to the same request. A terminal sends SIGINT to all
 * processes of the group, and package runners (`npx`, `bun run`) forward theirs, so one Ctrl-C arrives several times.
 */
const SAME_REQUEST_MS = 1000;

/**
 * What a signal asks for.
 * - `stop`: the first signal starts the shutdown.
 * - `repeated`: the same request arrived again.
 * - `exit`: a later request ends the process immediately.
 */
export type StopRequest = 'stop' | 'repeated' | 'exit';

/** Interprets the signals that end a process. */
export class StopSignals {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #firstMs: number | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Call it for each SIGINT and SIGTERM. */
  received(): StopRequest {
    const nowMs = this.#clock.monotonicMs();
    if (this.#firstMs === undefined) {
      this.#firstMs = nowMs;
      return 'stop';
    }
    return nowMs - this.#firstMs < SAME_REQUEST_MS ? 'repeated' : 'exit';
  }
}
