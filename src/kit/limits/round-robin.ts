/** FIFO queues of items by key. The keys are served round-robin: a key whose item was served is last. */
export class RoundRobin<Item> {
  /** The key that is served next is first. Without empty queues. */
  readonly #queues = new Map<string, Set<Item>>();
  #size = 0;

  /** Number of items of all keys. */
  get size(): number {
    return this.#size;
  }

  /** Number of items of a key. */
  sizeOf(key: string): number {
    return this.#queues.get(key)?.size ?? 0;
  }

  /** Adds an item at the end of the queue of its key. */
  add(key: string, item: Item): void {
    const queue = this.#queues.get(key) ?? new Set();
    this.#size += queue.has(item) ? 0 : 1;
    this.#queues.set(key, queue.add(item));
  }

  /** Removes an item. Does nothing if it is not queued. */
  delete(key: string, item: Item): void {
    const queue = this.#queues.get(key);
    if (!queue?.delete(item)) return;
    this.#size -= 1;
    if (queue.size === 0) this.#queues.delete(key);
  }

  /** Returns the first item of the first key that `accepts`, and keeps it. Undefined if there is none. */
  peek(accepts: (key: string) => boolean = () => true): { key: string; item: Item } | undefined {
    for (const [key, [item]] of this.#queues) {
      if (item !== undefined && accepts(key)) return { key, item };
    }
    return undefined;
  }

  /** Ends the turn of a key: moves it behind all other keys. */
  moveToEnd(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    this.#queues.delete(key);
    this.#queues.set(key, queue);
  }
}
