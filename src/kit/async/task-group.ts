/** Pieces of work, each under an id, that end by themselves or are stopped. */
export class TaskGroup<RunId> {
  readonly #stops = new Map<RunId, AbortController>();
  readonly #unfinished = new Set<Promise<void>>();

  /** @param work must not reject; its signal fires when it is stopped. */
  start(id: RunId, work: (signal: AbortSignal) => Promise<void>): void {
    const stop = new AbortController();
    this.#stops.set(id, stop);
    const unfinished = work(stop.signal).finally(() => {
      this.#stops.delete(id);
      this.#unfinished.delete(unfinished);
    });
    this.#unfinished.add(unfinished);
  }

  /** Nothing happens when it has ended. */
  stop(id: RunId): void {
    this.#stops.get(id)?.abort();
  }

  /** Stops all; resolves when every one has ended. */
  async close(): Promise<void> {
    for (const stop of this.#stops.values()) stop.abort();
    await Promise.all(this.#unfinished);
  }
}
