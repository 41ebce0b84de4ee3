/** Billed calls that are opened later, when the work that was started for them is used. */

import type { Calls, NewCall, OpenCall } from '../../contract/accounts/calls.ts';

/**
 * Until {@link open}, calls are only recorded: work that is discarded before is neither billed nor recorded. Results must not
 * be delivered before {@link open} has resolved.
 */
export class HeldCalls implements Calls {
  readonly #calls: Calls;
  readonly #held: { readonly call: NewCall; readonly opened: PromiseWithResolvers<OpenCall | undefined> }[] =
    [];
  #isOpen = false;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  async openCall(call: NewCall): Promise<OpenCall> {
    if (this.#isOpen) return await this.#calls.openCall(call);
    const opened = Promise.withResolvers<OpenCall | undefined>();
    this.#held.push({ call, opened });
    return {
      // Unknown yet: the work then keeps within its maximum.
      hasReservation: true,
      close: async (end) => (await opened.promise)?.close(end),
      discard: async () => (await opened.promise)?.discard(),
    };
  }

  /** Opens the recorded calls. @throws ServiceError `insufficient_quota`; none of them is then open. */
  async open(): Promise<void> {
    this.#isOpen = true;
    const open: OpenCall[] = [];
    try {
      for (const { call } of this.#held) open.push(await this.#calls.openCall(call));
    } catch (error) {
      await Promise.all(open.map((call) => call.discard()));
      this.#settle(() => undefined);
      throw error;
    }
    this.#settle((index) => open[index]);
  }

  /** Discards the recorded calls, which are never opened. Idempotent. */
  drop(): void {
    if (!this.#isOpen) this.#settle(() => undefined);
  }

  #settle(openCall: (index: number) => OpenCall | undefined): void {
    for (const [index, { opened }] of this.#held.entries()) opened.resolve(openCall(index));
    this.#held.length = 0;
  }
}
