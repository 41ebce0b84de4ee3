/** One answer of a language model on behalf of a caller, billed as one call: what chat and responses share. */

import type { NewCall, OpenCall } from '../../../src/contract/accounts/calls.ts';
import type { UsageStatus } from '../../../src/contract/accounts/usage.ts';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type { OperationContext } from '../../../src/contract/engines/operation.ts';
import type { TextRequest, TokenUsage } from '../../../src/contract/engines/text.ts';
import type { OpenRequest, OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { characterTokens, textTokens } from '../../../src/kit/text/token-estimate.ts';

function* textsOf({ messages }: Pick<TextRequest, 'messages'>): Generator<string> {
  for (const message of messages) {
    if (message.role === 'user') {
      for (const part of message.parts) if (part.kind === 'text') yield part.text;
    } else if (message.text !== undefined) yield message.text;
    if (message.role === 'assistant') for (const call of message.toolCalls) yield call.arguments;
  }
}

/**
 * Takes one of the organization's places; lines of batches take none, because their batch bounds them.
 * @throws ServiceError `rate_limited` when the organization has too many requests open.
 */
export function beginWork(
  open: OpenRequests,
  { caller, priority }: OperationContext,
  signal: AbortSignal,
): OpenRequest {
  return priority === 'batch' ? open.startUncounted(signal) : open.startRequest(caller, signal);
}

/** Whether an engine turned a request away before it did anything. */
export function isRefusal(error: unknown): boolean {
  const kinds = ['invalid_request', 'overloaded', 'rate_limited'];
  return error instanceof ServiceError && kinds.includes(error.kind);
}

/** A billed call that counts tokens, those of answers that were broken off by an estimate. */
export class TextCall {
  readonly #call: OpenCall;
  #input = 0;
  #output = 0;

  private constructor(call: OpenCall) {
    this.#call = call;
  }

  /** @throws ServiceError `insufficient_quota` when the credits do not cover the most that it may cost. */
  static async open(
    { calls, caller }: OperationContext,
    opening: Pick<NewCall, 'endpoint' | 'model' | 'maxUsage'>,
  ): Promise<TextCall> {
    return new TextCall(await calls.openCall({ ...opening, caller }));
  }

  /** Whether credits are held for it: it must not consume more than its opening says. */
  get holdsCredits(): boolean {
    return this.#call.hasReservation;
  }

  /** Counts an answer as its engine did. */
  count({ input, output }: TokenUsage): void {
    this.#input += input;
    this.#output += output;
  }

  /**
   * Counts an answer that had begun and has no count of its own.
   * @param characters of the answer, in code points.
   */
  estimate(request: Pick<TextRequest, 'messages'>, characters: number): void {
    for (const text of textsOf(request)) this.#input += textTokens(text);
    this.#output += characterTokens(characters);
  }

  /** Resolves when the usage row is stored. */
  close(status: UsageStatus): Promise<void> {
    return this.#call.close({ status, inputTokens: this.#input, outputTokens: this.#output });
  }

  /** The call was refused before anything was done: it leaves no trace. */
  discard(): Promise<void> {
    return this.#call.discard();
  }
}
