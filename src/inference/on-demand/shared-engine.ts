/** A language model that several model ids use: loaded once, and closed when all of them have closed it. */

import type { TextEngine } from '../../contract/engines/text.ts';

export class SharedTextEngine {
  readonly #load: () => Promise<TextEngine>;
  #users = 0;
  #loading: Promise<TextEngine> | undefined;
  /** Ends when the last instance is closed. Never rejects. */
  #closing: Promise<void> = Promise.resolve();

  /** @param load loads the model; called again after all users have closed it. */
  constructor(load: () => Promise<TextEngine>) {
    this.#load = load;
  }

  /**
   * Returns the model for one user, which closes it. The first call loads it.
   * @param defaultMaxTokens output tokens of a request that does not limit them.
   * @throws errors of the load, which the next call repeats.
   */
  async open(defaultMaxTokens: number): Promise<TextEngine> {
    // Two copies of the model might not fit in memory.
    this.#loading ??= this.#closing.then(() => this.#load());
    this.#users += 1;
    const loading = this.#loading;
    try {
      return this.#engineOfUser(await loading, defaultMaxTokens);
    } catch (error) {
      this.#users -= 1;
      if (this.#loading === loading) this.#loading = undefined;
      throw error;
    }
  }

  #engineOfUser(engine: TextEngine, defaultMaxTokens: number): TextEngine {
    let closed: Promise<void> | undefined;
    return {
      get contextTokens() {
        return engine.contextTokens;
      },
      generate: (request, signal) =>
        engine.generate({ ...request, maxTokens: request.maxTokens ?? defaultMaxTokens }, signal),
      prepare: async (start, signal) => await engine.prepare?.(start, signal),
      ready: () => engine.ready(),
      close: () => {
        closed ??= this.#release(engine);
        return closed;
      },
    };
  }

  async #release(engine: TextEngine): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#loading = undefined;
    const closed = engine.close();
    this.#closing = closed.catch(() => undefined);
    await closed;
  }
}
