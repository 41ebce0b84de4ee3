/** Billed text generation: one call with one generation. */

import type { UsageAmounts } from '../contract/accounts/calls.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';
import type { TextEngine, TextEvent, TextRequest } from '../contract/engines/text.ts';
import { codePoints } from '../kit/validation/code-points.ts';
import { billed, type CallPlan, type Meter } from '../usage/billed.ts';
import { estimatedTokens, type TextTokens, textUsage } from './text-usage.ts';
import { maxTokenUsage, reservedTokenLimit } from './token-limits.ts';

export interface BilledGenerationOptions extends Pick<CallPlan, 'model' | 'calls' | 'caller' | 'onClosed'> {
  readonly engine: TextEngine;
  readonly request: Omit<TextRequest, 'fairnessKey'>;
}

/**
 * Generates a text as one call, see {@link billed}. The last event is `end`. The tokens of an interrupted generation are estimated.
 * @throws ServiceError `insufficient_quota`; the errors of the engine; the reason of the signal after an abort.
 */
export function billedGeneration(
  { engine, request, ...plan }: BilledGenerationOptions,
  signal: AbortSignal,
): AsyncGenerator<TextEvent, void, undefined> {
  const maxUsage = maxTokenUsage(request, engine);
  const { keyId: fairnessKey } = plan.caller;
  return billed(
    { ...plan, endpoint: 'POST /v1/chat/completions', maxUsage },
    new GenerationMeter(request, maxUsage),
    (hasReservation) => {
      // Otherwise the completion could cost more than is reserved for it.
      const maxTokens = hasReservation ? reservedTokenLimit(request.maxTokens, engine) : request.maxTokens;
      return engine.generate({ ...request, maxTokens, fairnessKey }, signal);
    },
    signal,
  );
}

class GenerationMeter implements Meter<TextEvent> {
  readonly #request: Pick<TextRequest, 'messages'>;
  readonly #maxUsage: UsageAmounts;
  #characters = 0;
  #tokens: TextTokens | undefined;
  #hasOutput = false;

  constructor(request: Pick<TextRequest, 'messages'>, maxUsage: UsageAmounts) {
    this.#request = request;
    this.#maxUsage = maxUsage;
  }

  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  add(event: TextEvent): void {
    this.#hasOutput = true;
    if (event.kind === 'end') this.#tokens = event.tokens;
    else if ('text' in event) this.#characters += codePoints(event.text);
  }

  isLast(event: TextEvent): boolean {
    return event.kind === 'end';
  }

  usage(_status: UsageStatus, hasReservation: boolean): UsageAmounts {
    const counted = this.#tokens ?? this.#estimate();
    return textUsage(counted, hasReservation ? this.#maxUsage : undefined);
  }

  #estimate(): TextTokens {
    return this.#hasOutput ? estimatedTokens(this.#request, this.#characters) : { input: 0, output: 0 };
  }
}
