/** Billing of text generation: chat completions, responses and conversations. */

import type { NewCall, OpenCall, UsageAmounts } from '../contract/accounts/calls.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';
import type { OperationContext } from '../contract/engines/operation.ts';
import type { TextRequest, TokenUsage } from '../contract/engines/text.ts';
import type { OpenRequest, OpenRequests } from '../kit/limits/open-requests.ts';
import { characterTokens, textTokens } from '../kit/text/token-estimate.ts';

function* textsOf({ messages }: Pick<TextRequest, 'messages'>): Generator<string> {
  for (const message of messages) {
    if (message.role === 'user') {
      for (const part of message.parts) if (part.kind === 'text') yield part.text;
    } else if (message.text !== undefined) yield message.text;
    if (message.role === 'assistant') for (const call of message.toolCalls) yield call.arguments;
  }
}

/**
 * Starts a request within the concurrency limit of the organization. Batch lines are not counted, because
 * their batch limits them.
 * @throws ServiceError `rate_limited` if the organization has too many open requests.
 */
export function startRequest(
  open: OpenRequests,
  { caller, priority }: OperationContext,
  signal: AbortSignal,
): OpenRequest {
  return priority === 'batch' ? open.startUncounted(signal) : open.startRequest(caller, signal);
}

/** A billed call that counts tokens. The tokens of interrupted generations are estimated. */
export class BilledTextCall {
  readonly #call: OpenCall;
  readonly #maxUsage: UsageAmounts;
  #input = 0;
  #output = 0;

  private constructor(call: OpenCall, maxUsage: UsageAmounts) {
    this.#call = call;
    this.#maxUsage = maxUsage;
  }

  /** @throws ServiceError `insufficient_quota` if the credits do not cover the maximum cost. */
  static async open(
    { calls, caller }: Pick<OperationContext, 'calls' | 'caller'>,
    opening: Pick<NewCall, 'endpoint' | 'model' | 'maxUsage'>,
  ): Promise<BilledTextCall> {
    return new BilledTextCall(await calls.openCall({ ...opening, caller }), opening.maxUsage);
  }

  /** Whether credits are reserved. The call must then not consume more than its `maxUsage`. */
  get hasReservation(): boolean {
    return this.#call.hasReservation;
  }

  /** Adds the token usage that the engine reported. */
  count({ input, output }: TokenUsage): void {
    this.#input += input;
    this.#output += output;
  }

  /**
   * Adds an estimate for a generation that was interrupted.
   * @param characters length of the output in code points.
   */
  estimate(request: Pick<TextRequest, 'messages'>, characters: number): void {
    for (const text of textsOf(request)) this.#input += textTokens(text);
    this.#output += characterTokens(characters);
  }

  /** Resolves when the usage row is stored. */
  close(status: UsageStatus): Promise<void> {
    const { inputTokens, outputTokens } = this.#maxUsage;
    // The request has limits that keep it within its reservation, so that a higher count is an error of the server.
    const isLimited = this.hasReservation;
    return this.#call.close({
      status,
      inputTokens: isLimited ? Math.min(this.#input, inputTokens) : this.#input,
      outputTokens: isLimited ? Math.min(this.#output, outputTokens) : this.#output,
    });
  }

  /** The call was rejected before any work was done. It has no usage row. */
  discard(): Promise<void> {
    return this.#call.discard();
  }
}
