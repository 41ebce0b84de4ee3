/** The service behind POST /v1/chat/completions: from a checked request to an answer and a usage row. */

import type { Caller } from '../../src/contract/caller.ts';
import type { Calls } from '../../src/contract/calls.ts';
import type { Logger } from '../../src/contract/logger.ts';
import type { ModelTable } from '../../src/contract/plugin.ts';
import type { TextEngine, TextEvent, TextRequest } from '../../src/contract/text.ts';
import { requireModel } from '../../src/http/model-routes.ts';
import { OpenRequests } from '../../src/kit/open-requests.ts';
import { startingWith } from '../../src/kit/starting-with.ts';
import type { ChatAsk } from './chat-model.ts';
import { isRefusal, mostTokens, TextCall } from './text-work.ts';

export interface ChatParts {
  readonly text: ModelTable<TextEngine>;
  readonly calls: Calls;
  readonly log: Logger;
  /** Requests of one organization that may be open at once. */
  readonly requestsPerOrganization: number;
}

export class Chat {
  readonly #parts: ChatParts;
  readonly #open: OpenRequests;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    this.#open = new OpenRequests('chat', parts.requestsPerOrganization);
  }

  /**
   * Answers a request. Resolves when the first event is there, so that whatever fails before can still be told
   * by a status; the usage row is stored before the end comes. Not consuming stops the work.
   * @throws ServiceError: `invalid_request` for an unknown model; `rate_limited` when the organization has too
   *   many requests open; `insufficient_quota`; what the engine throws; the signal's reason after an abort.
   */
  async answer(
    { model, request }: Pick<ChatAsk, 'model' | 'request'>,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<TextEvent, void, undefined>> {
    const engine = requireModel(this.#parts.text, model);
    const job = this.#open.begin(caller.organization, signal);
    try {
      const call = await TextCall.open(this.#parts.calls, caller, {
        endpoint: 'POST /v1/chat/completions',
        model,
        most: mostTokens(request, engine),
      });
      const work = { ...request, priority: 'interactive', owner: caller.organization } as const;
      const events = this.#events(engine, work, call, job.signal, job.end);
      const first = await events.next();
      if (first.done) throw new Error('the engine ended without an end');
      return startingWith(first.value, events);
    } catch (error) {
      job.end();
      throw error;
    }
  }

  /** Notes a failure that no status can tell any more, because the answer had begun. */
  failedLate(error: unknown, { requestId }: Caller): void {
    this.#parts.log.error('chat failed in its stream', error, { request_id: requestId });
  }

  /** Resolves when nothing is running; at the signal it stops what still is. */
  drain(until: AbortSignal): Promise<void> {
    return this.#open.drain(until);
  }

  /** Stops every request that is running. */
  stop(): void {
    this.#open.stop();
  }

  async *#events(
    engine: TextEngine,
    request: TextRequest,
    call: TextCall,
    signal: AbortSignal,
    ended: () => void,
  ): AsyncGenerator<TextEvent, void, undefined> {
    let said = '';
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
        } else if ('text' in event) said += event.text;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) status = 'cancelled';
      else status = !begun && isRefusal(error) ? 'refused' : 'failed';
      throw error;
    } finally {
      if (status === 'refused') await call.discard();
      else if (status !== 'completed') {
        call.estimate(request, said);
        await call.close(status);
      }
      ended();
    }
  }
}
