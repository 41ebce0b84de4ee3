/** Service of POST /v1/responses: generates, stores and bills a response for a validated request. */

import type { Clock } from '../../../src/contract/core/clock.ts';
import { type Id, newId } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { OperationContext } from '../../../src/contract/engines/operation.ts';
import type { TextEngine } from '../../../src/contract/engines/text.ts';
import { type ModelTable, requireModel } from '../../../src/contract/model-table.ts';
import type { ResponseStore } from '../../../src/contract/stores/response-store.ts';
import { startRequest } from '../../../src/generate/start-request.ts';
import { textUsage } from '../../../src/generate/text-usage.ts';
import { toServiceError } from '../../../src/http/response/error-body.ts';
import { started } from '../../../src/kit/async/started.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import type { OpenRequest, OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { logFailure } from '../../../src/kit/logging/log-failure.ts';
import { billed, type Meter } from '../../../src/usage/billed.ts';
import { loadConversation } from './history.ts';
import type { BuiltInTools } from './items/built-in-tools.ts';
import type { ResponseFailure } from './items/response-object.ts';
import type { ResponseParams } from './schema.ts';
import { next, responseOf, start } from './stream/events.ts';
import type { ResponseAction, ResponseEvent, ResponseState } from './stream/state.ts';
import { ToolLoop } from './tool-loop.ts';

export interface ResponseServiceDeps {
  readonly text: ModelTable<TextEngine>;
  readonly open: OpenRequests;
  readonly responses: ResponseStore;
  readonly tools: BuiltInTools;
  readonly clock: Clock;
  readonly log: Logger;
}

type Events = AsyncGenerator<ResponseEvent, void, undefined>;

export class ResponseService {
  readonly #deps: ResponseServiceDeps;
  readonly #unfinished = new Set<Id<'resp_'>>();

  constructor(deps: ResponseServiceDeps) {
    this.#deps = deps;
  }

  /** Ids of the stored responses in progress. */
  unfinishedIds(): readonly Id<'resp_'>[] {
    return [...this.#unfinished];
  }

  /**
   * Returns the complete response as JSON text. It may be a failed response.
   * @throws the same errors as {@link streamEvents}.
   */
  async createResponse(
    params: ResponseParams,
    context: OperationContext,
    signal: AbortSignal,
  ): Promise<string> {
    let last: ResponseEvent | undefined;
    for await (const event of await this.streamEvents(params, context, signal)) last = event;
    return JSON.stringify(last?.response);
  }

  /**
   * Generates the events of a response. Resolves when the model has started, so that earlier errors can be
   * reported as an HTTP status; later errors are reported as events. Usage row and stored response are
   * committed before the final event. Ending the iteration early or an abort stops the generation, and the
   * partial response is stored as `incomplete`.
   * @throws ServiceError `invalid_request` for an unknown model, a missing previous response, or a tool that
   *   is not configured; `not_found` for missing items; `rate_limited` if the organization has too many open
   *   requests; `insufficient_quota`. Also throws the errors of the engine, and the reason of the signal
   *   after an abort.
   */
  async streamEvents(
    params: ResponseParams,
    context: OperationContext,
    signal: AbortSignal,
  ): Promise<Events> {
    const { text, open, responses, tools, clock, log } = this.#deps;
    const { caller } = context;
    const engine = requireModel(text, params.model);
    const job = startRequest(open, context, signal);
    const resources = new AsyncDisposableStack();
    resources.adopt(job, (it) => it.end());
    try {
      const id = newId('resp_');
      const { input, messages } = await loadConversation(params, id, responses, caller.organization);
      const toolLoop = resources.use(
        await ToolLoop.open({ params, engine, messages, context, tools, log, clock }),
      );
      const store = params.store ? responses : undefined;
      // A batch line is stopped only by its batch, and is then run again.
      const disconnected = context.priority === 'batch' ? job.signal : signal;
      resources.defer(() => void this.#unfinished.delete(id));
      const onStored = () => void this.#unfinished.add(id);
      const responseRun = new ResponseRun({
        params,
        context,
        id,
        input,
        toolLoop,
        store,
        onStored,
        job,
        disconnected,
        clock,
        log,
      });
      const events = responseRun.events(resources);
      return (await started(events)) ?? events;
    } catch (error) {
      await resources.disposeAsync();
      throw error;
    }
  }
}

interface ResponseRunDeps {
  readonly params: ResponseParams;
  readonly context: OperationContext;
  readonly id: Id<'resp_'>;
  readonly input: Awaited<ReturnType<typeof loadConversation>>['input'];
  readonly toolLoop: ToolLoop;
  /** Undefined if the response is not stored. */
  readonly store: ResponseStore | undefined;
  /** Called before the response is stored. */
  readonly onStored: () => void;
  readonly job: OpenRequest;
  /** Aborts when the client disconnects. */
  readonly disconnected: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The generation of one response. */
class ResponseRun {
  readonly #deps: ResponseRunDeps;
  #state: ResponseState | undefined;

  constructor(deps: ResponseRunDeps) {
    this.#deps = deps;
  }

  /** @param resources disposed at the end. */
  async *events(resources: AsyncDisposableStack): Events {
    const { toolLoop, job, params, context } = this.#deps;
    const { calls, caller } = context;
    const { model } = params;
    const maxUsage = toolLoop.maxUsage();
    const meter: Meter<readonly ResponseEvent[]> = {
      add: () => undefined,
      get hasOutput() {
        return toolLoop.hasStarted;
      },
      isLast: () => this.#state?.response !== undefined,
      usage: (_, hasReservation) => textUsage(toolLoop.tokens, hasReservation ? maxUsage : undefined),
    };
    try {
      const steps = billed(
        { calls, caller, model, endpoint: 'POST /v1/responses', maxUsage },
        meter,
        (hasReservation) => this.#steps(hasReservation),
        job.signal,
      );
      for await (const events of steps) yield* events;
    } catch (error) {
      // The `finally` block stores the partial response.
      if (this.#state === undefined || this.#deps.disconnected.aborted) throw error;
      logFailure(this.#deps.log, 'response failed', error, this.#logFields());
      yield* await this.#end({ kind: 'failed', error: toResponseFailure(error) });
    } finally {
      await this.#finishDisconnected();
      await resources.disposeAsync();
    }
  }

  /** Yields the events of each action, after the response that they show is stored. */
  async *#steps(hasReservation: boolean): AsyncGenerator<readonly ResponseEvent[], void, undefined> {
    const { toolLoop, job, params, id, clock } = this.#deps;
    for await (const action of toolLoop.actions(job.signal, hasReservation)) {
      if (this.#state === undefined) {
        const head = { id, createdAt: unixSeconds(clock), echo: params.echo };
        const { state, events } = start(head, params.include);
        await this.#storeInitial(state);
        this.#state = state;
        yield events;
      }
      const { state, events } = next(this.#state, action);
      // A response that is not stored is not completed.
      if (state.response !== undefined || state.output.length > this.#state.output.length)
        await this.#updateStored(state);
      this.#state = state;
      yield events;
    }
  }

  /** The generator ends early if the client disconnects or stops reading. */
  async #finishDisconnected(): Promise<void> {
    if (this.#state === undefined || this.#state.response !== undefined) return;
    await this.#end({ kind: 'disconnected' });
  }

  /** Ends and stores a response that was not completed. Returns its last events. */
  async #end(
    action: ResponseAction & { kind: 'failed' | 'disconnected' },
  ): Promise<readonly ResponseEvent[]> {
    if (this.#state === undefined) return [];
    const { state, events } = next(this.#state, action);
    await this.#updateStored(state).catch((failure) => this.#logStoreFailure(failure));
    this.#state = state;
    return events;
  }

  async #storeInitial(state: ResponseState): Promise<void> {
    const { store, onStored, context, input } = this.#deps;
    if (store === undefined) return;
    onStored();
    await store.put(context.caller.organization, responseOf(state), input);
  }

  async #updateStored(state: ResponseState): Promise<void> {
    const { store, context } = this.#deps;
    await store?.update(context.caller.organization, responseOf(state));
  }

  #logStoreFailure(error: unknown): void {
    this.#deps.log.error('response could not be stored', error, this.#logFields());
  }

  #logFields() {
    return { request_id: this.#deps.context.caller.requestId };
  }
}

/** Converts an error to the form in which responses store it. */
function toResponseFailure(error: unknown): ResponseFailure {
  const { message, kind } = toServiceError(error);
  const code = kind === 'rate_limited' ? 'rate_limit_exceeded' : 'server_error';
  return { code, message };
}
