import type { JobHandler, JobQueue } from '../contract/core/jobs.ts';
import type { Closable, Drainable, Lifecycle } from './define-plugin.ts';

/** Drains and closes what a plugin registered in its setup. */
export class PluginLifecycle implements Lifecycle {
  readonly #drains: ((until: AbortSignal) => Promise<void>)[] = [];
  readonly #stops: (() => void)[] = [];
  readonly #closes: (() => Promise<void>)[] = [];

  drains<Work extends Drainable>(work: Work): Work {
    this.#drains.push((until) => work.drain(until));
    this.#stops.push(() => work.stop?.());
    this.#closes.push(async () => work.close?.());
    return work;
  }

  closes<Resource extends Closable>(resource: Resource): Resource {
    this.#closes.push(() => resource.close());
    return resource;
  }

  runs(jobs: Pick<JobQueue, 'startRunner'>, handler: JobHandler & { abandon(): void }): void {
    const runner = jobs.startRunner(handler);
    this.#drains.push(() => runner.stop());
    // Work that did not finish within the grace period is repeated by the next runner.
    this.#stops.push(() => handler.abandon());
    this.#closes.push(() => runner.stop());
  }

  /** Drains all work concurrently. */
  async drain(until: AbortSignal): Promise<void> {
    await Promise.all(this.#drains.map((drain) => drain(until)));
  }

  /**
   * Stops all work first, so that nothing waits for it, then closes everything concurrently. Idempotent.
   * @throws the first error, after everything else is closed.
   */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    const closed = await Promise.allSettled(this.#closes.map((close) => close()));
    const failure = closed.find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') throw failure.reason;
  }
}
