/** The service behind POST /v1/chat/completions: from a checked request to an answer and a usage row. */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { newId } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { OperationContext } from '../../../src/contract/engines/operation.ts';
import type { TextEngine, TextEvent, TextRequest } from '../../../src/contract/engines/text.ts';
import { type ModelTable, requireModel } from '../../../src/contract/model-table.ts';
import { prepend } from '../../../src/kit/async/prepend.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import type { OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { logFailure } from '../../../src/kit/logging/log-failure.ts';
import { codePoints } from '../../../src/kit/validation/code-points.ts';
import { beginWork, isRefusal, TextCall } from '../shared/text-call.ts';
import { heldLimit, mostTokens } from '../shared/token-limits.ts';
import { CompletionBuilder, type CompletionHead } from './completion.ts';
import type { ChatAsk } from './schema.ts';

export interface ChatParts {
  readonly text: ModelTable<TextEngine>;
  readonly open: OpenRequests;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Chat {
  readonly #parts: ChatParts;

  constructor(parts: ChatParts) {
    this.#parts = parts;
  }

  /** What all objects of an answer that begins now say. */
  head(model: string): CompletionHead {
    return { id: newId('completion'), created: unixSeconds(this.#parts.clock), model };
  }

  /**
   * The whole answer, a chat completion as JSON text; its usage row is stored before.
   * @throws as {@link answer}.
   */
  async complete(ask: ChatAsk, order: OperationContext, signal: AbortSignal): Promise<string> {
    const events = await this.answer(ask, order, signal);
    const builder = new CompletionBuilder(this.head(ask.model));
    for await (const event of events) {
      const completion = builder.add(event);
      if (completion !== undefined) return JSON.stringify(completion);
    }
    throw new Error('the answer has no end');
  }

  /**
   * Answers a request. Resolves when the first event is there, so that whatever fails before can still be told
   * by a status; the usage row is stored before the end comes. Not consuming stops the work.
   * @throws ServiceError: `invalid_request` for an unknown model; `rate_limited` when the organization has too
   *   many requests open; `insufficient_quota`; what the engine throws; the signal's reason after an abort.
   */
  async answer(
    { model, request }: Pick<ChatAsk, 'model' | 'request'>,
    order: OperationContext,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<TextEvent, void, undefined>> {
    const engine = requireModel(this.#parts.text, model);
    const job = beginWork(this.#parts.open, order, signal);
    try {
      const call = await TextCall.open(order, {
        endpoint: 'POST /v1/chat/completions',
        model,
        maxUsage: mostTokens(request, engine),
      });
      const { priority, caller } = order;
      // Else it could cost more than is held for it.
      const maxTokens = call.holdsCredits ? heldLimit(request.maxTokens, engine) : request.maxTokens;
      const work = { ...request, maxTokens, priority, fairnessKey: caller.keyId };
      const events = this.#events(engine, work, call, job.signal, job.end);
      const first = await events.next();
      if (first.done) throw new Error('the engine ended without an end');
      return prepend(first.value, events);
    } catch (error) {
      job.end();
      throw error;
    }
  }

  /** Notes a failure that no status can tell any more, because the answer had begun. */
  failedLate(error: unknown, { requestId }: Caller): void {
    logFailure(this.#parts.log, 'chat failed in its stream', error, { request_id: requestId });
  }

  async *#events(
    engine: TextEngine,
    request: TextRequest,
    call: TextCall,
    signal: AbortSignal,
    ended: () => void,
  ): AsyncGenerator<TextEvent, void, undefined> {
    let saidCharacters = 0;
    let begun = false;
    let status: 'completed' | 'cancelled' | 'failed' | 'refused' = 'cancelled';
    try {
      for await (const event of engine.generate(request, signal)) {
        begun = true;
        if (event.kind === 'end') {
          call.count(event.tokens);
          status = 'completed';
          // The row comes first: whoever has the end may look for it.
          await call.close(status);
        } else if ('text' in event) saidCharacters += codePoints(event.text);
        yield event;
      }
    } catch (error) {
      if (signal.aborted) status = 'cancelled';
      else status = !begun && isRefusal(error) ? 'refused' : 'failed';
      throw error;
    } finally {
      if (status === 'refused') await call.discard();
      else if (status !== 'completed') {
        if (begun) call.estimate(request, saidCharacters);
        await call.close(status);
      }
      ended();
    }
  }
}
