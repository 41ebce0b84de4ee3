/** Service of POST /v1/chat/completions: generates a completion for a validated request and bills it. */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { newId } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { OperationContext } from '../../../src/contract/engines/operation.ts';
import type { TextEngine, TextEvent } from '../../../src/contract/engines/text.ts';
import { type ModelTable, requireModel } from '../../../src/contract/model-table.ts';
import { billedGeneration } from '../../../src/generate/billed-generation.ts';
import { startRequest } from '../../../src/generate/start-request.ts';
import { started } from '../../../src/kit/async/started.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import type { OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { logFailure } from '../../../src/kit/logging/log-failure.ts';
import { CompletionBuilder, type CompletionHead } from './completion.ts';
import type { ChatParams } from './schema.ts';

export interface ChatServiceDeps {
  readonly text: ModelTable<TextEngine>;
  readonly open: OpenRequests;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ChatService {
  readonly #deps: ChatServiceDeps;

  constructor(deps: ChatServiceDeps) {
    this.#deps = deps;
  }

  /** Returns the shared fields of a completion that starts now. */
  head(model: string): CompletionHead {
    return { id: newId('chatcmpl-'), created: unixSeconds(this.#deps.clock), model };
  }

  /**
   * Returns the complete chat completion as JSON text. The usage row is stored first.
   * @throws the same errors as {@link streamEvents}.
   */
  async complete(params: ChatParams, context: OperationContext, signal: AbortSignal): Promise<string> {
    const events = await this.streamEvents(params, context, signal);
    const builder = new CompletionBuilder(this.head(params.model));
    for await (const event of events) {
      const completion = builder.add(event);
      if (completion !== undefined) return JSON.stringify(completion);
    }
    throw new Error('the completion has no end');
  }

  /**
   * Generates the events of a completion. Resolves when the first event exists, so that earlier errors can be
   * reported as an HTTP status. The usage row is stored before the final event. Ending the iteration early
   * stops the generation.
   * @throws ServiceError `invalid_request` for an unknown model; `rate_limited` if the organization has too
   *   many open requests; `insufficient_quota`. Also throws the errors of the engine, and the reason of the
   *   signal after an abort.
   */
  async streamEvents(
    { model, request }: Pick<ChatParams, 'model' | 'request'>,
    context: OperationContext,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<TextEvent, void, undefined>> {
    const engine = requireModel(this.#deps.text, model);
    const job = startRequest(this.#deps.open, context, signal);
    const { calls, caller, priority } = context;
    const plan = { engine, model, calls, caller, onClosed: job.end };
    const events = billedGeneration({ ...plan, request: { ...request, priority } }, job.signal);
    return (await started(events)) ?? events;
  }

  /** Logs a failure that occurred after the response had started. */
  logStreamFailure(error: unknown, { requestId }: Caller): void {
    logFailure(this.#deps.log, 'chat completion failed while streaming', error, { request_id: requestId });
  }
}
