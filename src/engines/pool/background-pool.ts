/**
 * A pool for what nobody waits for, in processes that leave the cores to all others: the first job starts them, and
 * they end when none has come for a while.
 */

import { shuttingDown } from '../../contract/core/error.ts';
import { type InferencePool, type InferencePoolOptions, inferencePool } from './inference-pool.ts';
import type { PassWork } from './job.ts';

/** Processes that have had nothing to do for so long give their memory back. */
const IDLE_MS = 300_000;

export interface BatchPoolOptions<Spec> extends Omit<InferencePoolOptions<Spec>, 'nice'> {
  /** Default: five minutes. */
  readonly idleMs?: number;
}

export class BatchPool<Spec> implements Pick<InferencePool, 'run' | 'close'> {
  readonly #options: BatchPoolOptions<Spec>;
  #pool: InferencePool | undefined;
  #open = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(options: BatchPoolOptions<Spec>) {
    this.#options = options;
  }

  /** As {@link InferencePool.run}; while the models are being loaded, jobs wait. */
  async *run<Request, Result>(
    model: string,
    work: PassWork<Request, Result>,
    signal: AbortSignal,
  ): AsyncGenerator<Result, void, undefined> {
    const pool = this.#started();
    this.#open += 1;
    try {
      yield* pool.run<Request, Result>(model, work, signal);
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#closeWhenIdle();
    }
  }

  /** Ends every process; open jobs fail. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#pool?.close();
  }

  #started(): InferencePool {
    if (this.#closed) throw shuttingDown();
    clearTimeout(this.#idle);
    if (this.#pool) return this.#pool;
    const pool = inferencePool({ ...this.#options, nice: true });
    this.#pool = pool;
    // Who waits for it hears of it; it is tried again meanwhile.
    pool.start().catch((error: unknown) => {
      if (this.#pool === pool && !this.#closed)
        this.#options.log.error('no process for batches could be started', error);
    });
    return pool;
  }

  #closeWhenIdle(): void {
    if (this.#closed) return;
    this.#idle = setTimeout(() => {
      const pool = this.#pool;
      this.#pool = undefined;
      void pool?.close();
    }, this.#options.idleMs ?? IDLE_MS);
  }
}
