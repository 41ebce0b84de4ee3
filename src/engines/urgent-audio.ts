/**
 * Whether audio inference with a deadline runs: a transcription for a realtime client, or realtime speech whose listener has
 * no audio left to play. Language models, which share the cores, pause between their steps during this time.
 */
export class UrgentAudio {
  #isRunning = false;
  readonly #listeners = new Set<(isRunning: boolean) => void>();

  get isRunning(): boolean {
    return this.#isRunning;
  }

  set(isRunning: boolean): void {
    if (isRunning === this.#isRunning) return;
    this.#isRunning = isRunning;
    for (const listener of this.#listeners) listener(isRunning);
  }

  /** Calls the listener on each change. Returns a function that ends this. */
  subscribe(listener: (isRunning: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
