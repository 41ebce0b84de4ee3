import type { Priority } from '../../../contract/engines/engine.ts';

/** A response in progress: queue of the worker's messages for one request. */
export class PendingResponse<Message> {
  readonly id: number;
  readonly fairnessKey: string;
  readonly priority: Priority;
  /** Prompt tokens that the worker may still have to process. */
  unreadTokens = 0;
  #release: (() => void) | undefined;
  readonly #messages: Message[] = [];
  #failure: { readonly error: unknown } | undefined;
  #change = Promise.withResolvers<void>();

  constructor(id: number, fairnessKey: string, priority: Priority) {
    this.id = id;
    this.fairnessKey = fairnessKey;
    this.priority = priority;
  }

  /** Keeps a permit until the worker has finished with the request, even if the consumer leaves before or reads later. */
  hold(release: () => void): void {
    this.#release = release;
  }

  /** Releases the permit. Does nothing without one. */
  release(): void {
    const release = this.#release;
    this.#release = undefined;
    release?.();
  }

  push(message: Message): void {
    this.#messages.push(message);
    this.#change.resolve();
  }

  /** Fails the response and discards unread messages. Only the first error is used. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#change.resolve();
  }

  /** Makes {@link changed} resolve. */
  wake(): void {
    this.#change.resolve();
  }

  /** Waits for the next message. @throws the error passed to {@link fail}. */
  async next(): Promise<Message> {
    for (;;) {
      this.#throwFailure();
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      await this.changed();
    }
  }

  /** Resolves after the next message or {@link wake}. @throws the error passed to {@link fail}. */
  async changed(): Promise<void> {
    this.#throwFailure();
    this.#change = Promise.withResolvers();
    await this.#change.promise;
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
