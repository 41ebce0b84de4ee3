/** Background tasks by id, which finish by themselves or are stopped. */
export class TaskGroup<RunId> {
  readonly #stops = new Map<RunId, AbortController>();
  readonly #unfinished = new Set<Promise<void>>();

  /**
   * Starts a task.
   * @param work must not reject; its signal fires when the task is stopped.
   */
  start(id: RunId, work: (signal: AbortSignal) => Promise<void>): void {
    const stop = new AbortController();
    this.#stops.set(id, stop);
    const unfinished = work(stop.signal).finally(() => {
      this.#stops.delete(id);
      this.#unfinished.delete(unfinished);
    });
    this.#unfinished.add(unfinished);
  }

  /** Stops a task. Does nothing if it has finished. */
  stop(id: RunId): void {
    this.#stops.get(id)?.abort();
  }

  /** Stops all tasks and resolves when all have finished. */
  async close(): Promise<void> {
    for (const stop of this.#stops.values()) stop.abort();
    await Promise.all(this.#unfinished);
  }
}
