/** Billed text generation: one call with one generation. */

import type { Caller } from '../contract/accounts/caller.ts';
import type { Calls } from '../contract/accounts/calls.ts';
import { type Outcome, outcomeOf } from '../contract/core/outcome.ts';
import type { TextEngine, TextEvent, TextRequest } from '../contract/engines/text.ts';
import { codePoints } from '../kit/validation/code-points.ts';
import { BilledTextCall } from './text-call.ts';
import { maxTokenUsage, reservedTokenLimit } from './token-limits.ts';

export interface BilledGenerationOptions {
  readonly engine: TextEngine;
  readonly model: string;
  readonly request: Omit<TextRequest, 'fairnessKey'>;
  readonly calls: Calls;
  readonly caller: Caller;
}

/**
 * Generates a text as one call: opens it before the generation, and closes it before the final event is yielded. Ending the
 * iteration early stops the generation; its tokens are then estimated. A rejected request leaves no usage row.
 * @throws ServiceError `insufficient_quota`; the errors of the engine; the reason of the signal after an abort.
 */
export async function* billedGeneration(
  { engine, model, request, calls, caller }: BilledGenerationOptions,
  signal: AbortSignal,
): AsyncGenerator<TextEvent, void, undefined> {
  const maxUsage = maxTokenUsage(request, engine);
  const opening = { endpoint: 'POST /v1/chat/completions', model, maxUsage } as const;
  const call = await BilledTextCall.open({ calls, caller }, opening);
  // Otherwise the completion could cost more than is reserved for it.
  const maxTokens = call.hasReservation ? reservedTokenLimit(request.maxTokens, engine) : request.maxTokens;
  let generatedCharacters = 0;
  let hasStarted = false;
  let status: Outcome = 'cancelled';
  try {
    for await (const event of engine.generate({ ...request, maxTokens, fairnessKey: caller.keyId }, signal)) {
      hasStarted = true;
      if (event.kind === 'end') {
        call.count(event.tokens);
        status = 'completed';
        // The usage row is committed before the final event.
        await call.close(status);
      } else if ('text' in event) generatedCharacters += codePoints(event.text);
      yield event;
    }
  } catch (error) {
    status = outcomeOf(error, { signal, hasOutput: hasStarted });
    throw error;
  } finally {
    if (status === 'rejected') await call.discard();
    else if (status !== 'completed') {
      if (hasStarted) call.estimate(request, generatedCharacters);
      await call.close(status);
    }
  }
}
