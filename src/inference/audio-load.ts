/**
 * What the inference of audio needs of the cores, which language models share. `urgent`: inference with a deadline runs, such as a
 * transcription for a realtime client, or realtime speech whose listener has little audio left to play; language models pause
 * between their steps during this time. `some`: other audio inference runs; language models use half of their threads.
 */
export type AudioLoadLevel = 'none' | 'some' | 'urgent';

export class AudioLoad {
  #level: AudioLoadLevel = 'none';
  readonly #listeners = new Set<(level: AudioLoadLevel) => void>();

  get level(): AudioLoadLevel {
    return this.#level;
  }

  set(level: AudioLoadLevel): void {
    if (level === this.#level) return;
    this.#level = level;
    for (const listener of this.#listeners) listener(level);
  }

  /** Calls the listener on each change. Returns a function that ends this. */
  subscribe(listener: (level: AudioLoadLevel) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
