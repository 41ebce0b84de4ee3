import type { Priority } from '../../../contract/engines/engine.ts';

/** Messages of the process for one answer, for whoever waits for them. */
export class OpenAnswer<Message> {
  readonly id: number;
  readonly fairnessKey: string;
  readonly priority: Priority;
  /** Tokens of its question; 0 until it is measured. */
  inputTokens = 0;
  /** Those that the process may still have to read. */
  unread = 0;
  /** Called when the process has nothing more to do for it, which may be long before that is heard, or after it was left. */
  over: () => void = () => undefined;
  readonly #messages: Message[] = [];
  #failure: { readonly error: unknown } | undefined;
  #came = Promise.withResolvers<void>();

  constructor(id: number, fairnessKey: string, priority: Priority) {
    this.id = id;
    this.fairnessKey = fairnessKey;
    this.priority = priority;
  }

  push(message: Message): void {
    this.#messages.push(message);
    this.#came.resolve();
  }

  /** Ends it with an error, the first of which counts; what came before is lost. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#came.resolve();
  }

  /** Looks again at what it waits for. */
  wake(): void {
    this.#came.resolve();
  }

  /** @throws what it failed with. */
  async next(): Promise<Message> {
    for (;;) {
      this.#throwFailure();
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      await this.changed();
    }
  }

  /** Resolves at the next message, failure or {@link wake}. */
  async changed(): Promise<void> {
    this.#throwFailure();
    this.#came = Promise.withResolvers();
    await this.#came.promise;
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
