import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import type { TurnEndDetector } from '../../src/contract/engines/turn-end.ts';

/** An end-of-turn detector without a model. */
export class FakeTurnEnd implements TurnEndDetector {
  /** Audio of all requests. */
  readonly requests: Float32Samples[] = [];
  readonly #answer: (request: number) => number | Promise<number>;

  /** @param answer returns the probability of a request, by its number; may throw. */
  constructor(answer: (request: number) => number | Promise<number> = () => 1) {
    this.#answer = answer;
  }

  async probability(samples: Float32Samples, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    this.requests.push(samples);
    return await this.#answer(this.requests.length - 1);
  }

  ready() {
    return { ready: true };
  }

  async close(): Promise<void> {}
}
