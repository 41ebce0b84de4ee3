/** The service behind POST /v1/responses: from a checked request to events, a stored response and a usage row. */

import type { Clock } from '../../../src/contract/core/clock.ts';
import { type Id, newId } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { OperationContext } from '../../../src/contract/engines/operation.ts';
import type { TextEngine } from '../../../src/contract/engines/text.ts';
import { type ModelTable, requireModel } from '../../../src/contract/model-table.ts';
import type { ResponseStore } from '../../../src/contract/stores/response-store.ts';
import { toServiceError } from '../../../src/http/response/error-body.ts';
import { prepend } from '../../../src/kit/async/prepend.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import type { OpenRequest, OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { logFailure } from '../../../src/kit/logging/log-failure.ts';
import { beginWork, isRefusal, TextCall } from '../shared/text-call.ts';
import { conversationOf } from './history.ts';
import type { BuiltInTools } from './items/built-in-tools.ts';
import type { ResponseFailure } from './items/response-object.ts';
import type { ResponseAsk } from './schema.ts';
import { begin, next, responseOf } from './stream/events.ts';
import type { ResponseEvent, ResponseState } from './stream/state.ts';
import { Answers } from './tool-loop.ts';

export interface ResponderParts {
  readonly text: ModelTable<TextEngine>;
  readonly open: OpenRequests;
  readonly responses: ResponseStore;
  readonly tools: BuiltInTools;
  readonly clock: Clock;
  readonly log: Logger;
}

type Events = AsyncGenerator<ResponseEvent, void, undefined>;

export class Responder {
  readonly #parts: ResponderParts;
  readonly #stored = new Set<Id<'response'>>();

  constructor(parts: ResponderParts) {
    this.#parts = parts;
  }

  /** Stored responses that are being made. */
  stored(): readonly Id<'response'>[] {
    return [...this.#stored];
  }

  /**
   * The whole response as JSON text, which may be that of one that failed.
   * @throws as {@link answer}.
   */
  async respond(ask: ResponseAsk, order: OperationContext, signal: AbortSignal): Promise<string> {
    let last: ResponseEvent | undefined;
    for await (const event of await this.answer(ask, order, signal)) last = event;
    return JSON.stringify(last?.response);
  }

  /**
   * Answers a request. Resolves when the model has begun, so that whatever fails before can still be told by a
   * status; after that the events tell it. Usage row and stored response come before the last event. Not consuming
   * stops the work; so does an abort, and what was said until then is stored as `incomplete`.
   * @throws ServiceError: `invalid_request` for an unknown model, a previous response that is not there, a tool
   *   that is not set up; `not_found` for items that are not there; `rate_limited` when the organization has too
   *   many requests open; `insufficient_quota`; what the engine throws; the signal's reason after an abort.
   */
  async answer(ask: ResponseAsk, order: OperationContext, signal: AbortSignal): Promise<Events> {
    const { text, open, responses, tools, clock, log } = this.#parts;
    const { caller } = order;
    const engine = requireModel(text, ask.model);
    const job = beginWork(open, order, signal);
    const held = new AsyncDisposableStack();
    held.adopt(job, (it) => it.end());
    try {
      const id = newId('response');
      const { input, messages } = await conversationOf(ask, id, responses, caller.organization);
      const answers = held.use(await Answers.open({ ask, engine, messages, order, tools, log, clock }));
      const call = await TextCall.open(order, {
        endpoint: 'POST /v1/responses',
        model: ask.model,
        maxUsage: answers.most(),
      });
      const store = ask.store ? responses : undefined;
      // What stops the line of a batch is the batch's business: the line does not end by it.
      const left = order.priority === 'batch' ? job.signal : signal;
      held.defer(() => void this.#stored.delete(id));
      const stored = () => void this.#stored.add(id);
      const run = new Run({ ask, caller, id, input, answers, call, store, stored, job, left, clock, log });
      const events = run.events(held);
      const first = await events.next();
      if (first.done) throw new Error('the response ended without an event');
      return prepend(first.value, events);
    } catch (error) {
      await held.disposeAsync();
      throw error;
    }
  }
}

interface RunParts {
  readonly ask: ResponseAsk;
  readonly caller: OperationContext['caller'];
  readonly id: Id<'response'>;
  readonly input: Awaited<ReturnType<typeof conversationOf>>['input'];
  readonly answers: Answers;
  readonly call: TextCall;
  /** Absent: nothing is stored. */
  readonly store: ResponseStore | undefined;
  /** Told before it is stored. */
  readonly stored: () => void;
  readonly job: OpenRequest;
  /** Fires when the client leaves. */
  readonly left: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One response on its way. */
class Run {
  readonly #parts: RunParts;
  #state: ResponseState | undefined;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** @param held what is freed at the end. */
  async *events(held: AsyncDisposableStack): Events {
    const { answers, job, ask, id, call, clock } = this.#parts;
    const facts = answers.facts(job.signal, call.holdsCredits);
    try {
      for await (const fact of facts) {
        if (this.#state === undefined) {
          const head = { id, createdAt: unixSeconds(clock), echo: ask.echo };
          const { state, events } = begin(head, ask.include);
          await this.#put(state);
          this.#state = state;
          yield* events;
        }
        const { state, events } = next(this.#state, fact);
        if (state.response !== undefined) await this.#end(state, 'completed');
        else if (state.output.length > this.#state.output.length) await this.#update(state);
        this.#state = state;
        yield* events;
      }
    } catch (error) {
      if (this.#state === undefined) {
        await this.#refuse(error);
        throw error;
      }
      // The finally stores what there is of it.
      if (this.#parts.left.aborted) throw error;
      logFailure(this.#parts.log, 'a response failed', error, this.#words());
      const { state, events } = next(this.#state, { kind: 'failed', error: failureOf(error) });
      await this.#end(state, 'failed').catch((fault) => this.#lost(fault));
      this.#state = state;
      yield* events;
    } finally {
      await this.#leave();
      await held.disposeAsync();
    }
  }

  /** The end comes in the middle when the client has left, by an abort or by not reading on. */
  async #leave(): Promise<void> {
    if (this.#state === undefined || this.#state.response !== undefined) return;
    const { state } = next(this.#state, { kind: 'left' });
    await this.#end(state, 'cancelled').catch((fault) => this.#lost(fault));
    this.#state = state;
  }

  /** Before anything was sent: a refusal leaves no trace. */
  async #refuse(error: unknown): Promise<void> {
    const { answers, call, job } = this.#parts;
    if (!job.signal.aborted && !answers.hasBegun && isRefusal(error)) await call.discard();
    else await this.#close(job.signal.aborted ? 'cancelled' : 'failed');
  }

  async #end(state: ResponseState, status: 'completed' | 'failed' | 'cancelled'): Promise<void> {
    try {
      await this.#update(state);
    } catch (error) {
      // What is not stored has not been completed; the row is written when that is known.
      if (status !== 'completed') await this.#close(status);
      throw error;
    }
    await this.#close(status);
  }

  #close(status: 'completed' | 'failed' | 'cancelled'): Promise<void> {
    const { answers, call } = this.#parts;
    answers.countInto(call);
    return call.close(status);
  }

  async #put(state: ResponseState): Promise<void> {
    const { store, stored, caller, input } = this.#parts;
    if (store === undefined) return;
    stored();
    await store.put(caller.organization, responseOf(state), input);
  }

  async #update(state: ResponseState): Promise<void> {
    const { store, caller } = this.#parts;
    await store?.update(caller.organization, responseOf(state));
  }

  #lost(error: unknown): void {
    this.#parts.log.error('a response could not be stored', error, this.#words());
  }

  #words() {
    return { request_id: this.#parts.caller.requestId };
  }
}

/** What a stored response may say of any failure. */
function failureOf(error: unknown): ResponseFailure {
  const { message, kind } = toServiceError(error);
  const code = kind === 'rate_limited' ? 'rate_limit_exceeded' : 'server_error';
  return { code, message };
}
