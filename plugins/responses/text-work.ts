/** One answer of a language model on behalf of a caller, billed as one call: what chat and responses share. */

import type { CallOpening, Consumption, OpenCall } from '../../src/contract/calls.ts';
import { ServiceError } from '../../src/contract/error.ts';
import type { WorkOrder } from '../../src/contract/operation.ts';
import type { TextEngine, TextRequest, TextTokens } from '../../src/contract/text.ts';
import type { UsageStatus } from '../../src/contract/usage.ts';
import type { OpenRequest, OpenRequests } from '../../src/kit/open-requests.ts';
import { textTokens } from '../../src/kit/token-estimate.ts';

/** Tokens of an answer that names no limit, when the engine does not tell its context. */
const MOST_OUTPUT_TOKENS = 4096;
/** What an image or a sound may cost, at most, where only the upstream knows. */
const MOST_PART_TOKENS = 2000;

/** Most tokens that an answer may consume: no token is shorter than a character. */
export function mostTokens(
  request: Pick<TextRequest, 'messages' | 'tools' | 'maxTokens'>,
  engine: TextEngine,
): Consumption {
  const { maxTokens = engine.contextTokens ?? MOST_OUTPUT_TOKENS } = request;
  let inputTokens = JSON.stringify(request.tools).length;
  for (const text of textsOf(request)) inputTokens += text.length;
  for (const message of request.messages) {
    if (message.role !== 'user') continue;
    inputTokens += MOST_PART_TOKENS * message.parts.filter(({ kind }) => kind !== 'text').length;
  }
  const { contextTokens = Number.POSITIVE_INFINITY } = engine;
  return {
    inputTokens: Math.min(inputTokens, contextTokens),
    outputTokens: Math.min(maxTokens, contextTokens),
  };
}

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
  { caller, priority }: WorkOrder,
  signal: AbortSignal,
): OpenRequest {
  return priority === 'batch' ? open.beginWithoutPlace(signal) : open.begin(caller.organization, signal);
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
    { calls, caller }: WorkOrder,
    opening: Pick<CallOpening, 'endpoint' | 'model' | 'most'>,
  ): Promise<TextCall> {
    return new TextCall(await calls.open({ ...opening, caller }));
  }

  /** Counts an answer as its engine did. */
  count({ input, output }: TextTokens): void {
    this.#input += input;
    this.#output += output;
  }

  /** Counts an answer that has no count of its own. */
  estimate(request: Pick<TextRequest, 'messages'>, answer: string): void {
    for (const text of textsOf(request)) this.#input += textTokens(text);
    this.#output += textTokens(answer);
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
