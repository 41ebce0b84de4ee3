/**
 * Dynamic batching of embedding requests. A batch contains inputs of all requests that are pending when it starts, taken
 * round-robin by fairness key, so that a small request does not wait for the end of a large one.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { EmbedRequest } from '../../../contract/engines/embed.ts';
import type { Priority } from '../../../contract/engines/engine.ts';
import { requireClassSlot } from '../../../kit/limits/queue-slots.ts';
import { RoundRobin } from '../../../kit/limits/round-robin.ts';
import type { MinilmResult } from '../shared/protocol.ts';

type Input = EmbedRequest['inputs'][number];

/** Result of one input. */
export interface EmbeddedInput {
  readonly vector: Float32Array<ArrayBuffer>;
  readonly tokens: number;
}

/** An input exceeds the token limit of the model. */
export class InputTooLongError extends Error {
  /** @param index of the input in its request. */
  constructor(readonly index: number) {
    super('an input is too long');
  }
}

/** Runs one batch. Results may arrive in any order. */
export type RunBatch = (
  inputs: readonly Input[],
  owner: { readonly priority: Priority; readonly fairnessKey: string },
  signal: AbortSignal,
) => AsyncIterable<MinilmResult>;

/** Maximum size of a batch. A token has about four characters, so a batch takes about half a second. */
const MAX_BATCH_INPUTS = 64;
const MAX_BATCH_CHARACTERS = 16_000;

const PRIORITIES: readonly Priority[] = ['realtime', 'interactive', 'batch'];

/** A request without a complete result. */
interface PendingRequest extends Pick<EmbedRequest, 'inputs' | 'priority' | 'fairnessKey'> {
  /** Runs a function in the async context of the request, so that its spans belong to the trace of the request. */
  readonly runInContext: <Result>(work: () => Result) => Result;
  readonly embedded: EmbeddedInput[];
  /** Number of inputs that are assigned to a batch. */
  assigned: number;
  /** Number of inputs with a result. */
  completed: number;
  readonly resolve: (embedded: readonly EmbeddedInput[]) => void;
  readonly reject: (error: unknown) => void;
}

/** An input of a batch. */
interface BatchItem {
  readonly request: PendingRequest;
  /** Index of the input in its request. */
  readonly index: number;
}

export class InputBatches {
  readonly #concurrency: number;
  readonly #maxPending: number;
  readonly #runBatch: RunBatch;
  readonly #pending = new Set<PendingRequest>();
  /** Pending requests with inputs that are not assigned to a batch. */
  readonly #unassigned: Readonly<Record<Priority, RoundRobin<PendingRequest>>> = {
    realtime: new RoundRobin(),
    interactive: new RoundRobin(),
    batch: new RoundRobin(),
  };
  readonly #closed = new AbortController();
  /** Number of running batches of each priority. */
  readonly #running = new Map<Priority, number>();
  #scheduled = false;

  /**
   * @param concurrency maximum running batches per priority, so that no priority blocks another.
   * @param maxPending maximum pending requests per priority.
   */
  constructor(concurrency: number, maxPending: number, runBatch: RunBatch) {
    this.#concurrency = concurrency;
    this.#maxPending = maxPending;
    this.#runBatch = runBatch;
  }

  /**
   * Embeds the inputs of a request. @returns one result per input, in order.
   * @throws InputTooLongError when an input exceeds the token limit.
   * @throws ServiceError `rate_limited` when the fairness key has too many pending requests, `overloaded` when there are too
   *   many in total. Also throws the error of a batch and the reason of the signal.
   */
  async embed(request: EmbedRequest, signal: AbortSignal): Promise<readonly EmbeddedInput[]> {
    this.#admit(request);
    const { inputs, priority, fairnessKey } = request;
    if (inputs.length === 0) return [];
    const { promise, resolve, reject } = Promise.withResolvers<readonly EmbeddedInput[]>();
    const runInContext = AsyncLocalStorage.snapshot();
    const pending = {
      inputs,
      priority,
      fairnessKey,
      runInContext,
      embedded: [],
      assigned: 0,
      completed: 0,
      resolve,
      reject,
    };
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#pending.add(pending);
    this.#unassigned[priority].add(fairnessKey, pending);
    this.#schedule();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#pending.delete(pending);
      this.#unassigned[priority].delete(fairnessKey, pending);
    }
  }

  /** Fails all pending requests. Idempotent. */
  close(): void {
    this.#closed.abort(shuttingDown());
    for (const request of this.#pending) request.reject(this.#closed.signal.reason);
  }

  #admit({ priority, fairnessKey }: EmbedRequest): void {
    this.#closed.signal.throwIfAborted();
    const pending = this.#pending.values().filter((request) => request.priority === priority);
    requireClassSlot(pending, fairnessKey, this.#maxPending);
  }

  /** Starts batches after the current tick, so that requests of the same tick share a batch. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#startBatches();
    });
  }

  #startBatches(): void {
    for (const priority of PRIORITIES) {
      while (this.#runningCount(priority) < this.#concurrency && !this.#closed.signal.aborted) {
        const batch = this.#nextBatch(priority);
        const [first] = batch;
        if (first === undefined) break;
        this.#running.set(priority, this.#runningCount(priority) + 1);
        const { request } = first;
        const running = request.runInContext(() => this.#processBatch(batch, request));
        void running.finally(() => {
          this.#running.set(priority, this.#runningCount(priority) - 1);
          this.#startBatches();
        });
      }
    }
  }

  #runningCount(priority: Priority): number {
    return this.#running.get(priority) ?? 0;
  }

  /** Assembles the next batch of a priority, round-robin by fairness key, one input at a time. */
  #nextBatch(priority: Priority): BatchItem[] {
    const unassigned = this.#unassigned[priority];
    const batch: BatchItem[] = [];
    let characters = 0;
    while (batch.length < MAX_BATCH_INPUTS) {
      const request = unassigned.peek()?.item;
      const input = request?.inputs[request.assigned];
      if (request === undefined || input === undefined) break;
      characters += typeof input === 'string' ? input.length : input.length * 4;
      if (batch.length > 0 && characters > MAX_BATCH_CHARACTERS) break;
      batch.push({ request, index: request.assigned });
      request.assigned += 1;
      if (request.assigned === request.inputs.length) unassigned.delete(request.fairnessKey, request);
      unassigned.moveToEnd(request.fairnessKey);
    }
    // Requests of the same key also alternate, but between batches.
    for (const request of new Set(batch.map((item) => item.request))) {
      if (request.assigned === request.inputs.length) continue;
      unassigned.delete(request.fairnessKey, request);
      unassigned.add(request.fairnessKey, request);
    }
    return batch;
  }

  /** @param owner request whose priority, fairness key and trace the batch uses. */
  async #processBatch(batch: readonly BatchItem[], owner: PendingRequest): Promise<void> {
    const inputs = batch.flatMap(({ request, index }) => request.inputs.slice(index, index + 1));
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#closed.signal, stop.signal]);
    try {
      for await (const result of this.#runBatch(inputs, owner, signal)) {
        deliverResult(batch, result);
        // Stop if all requests of the batch are finished or aborted.
        if (batch.every(({ request }) => !this.#pending.has(request)))
          stop.abort(new Error('no pending requests'));
      }
    } catch (error) {
      // A rate limit of one key must not fail the requests of other keys in the batch. They are run again.
      const isRateLimit = error instanceof ServiceError && error.kind === 'rate_limited';
      const isFailed = ({ request }: BatchItem) => !isRateLimit || request.fairnessKey === owner.fairnessKey;
      for (const { request } of batch.filter(isFailed)) request.reject(error);
      const rest = batch.filter((item) => !isFailed(item));
      const next = rest[0]?.request;
      await next?.runInContext(() => this.#processBatch(rest, next));
    }
  }
}

function deliverResult(batch: readonly BatchItem[], { indexes, tokens, vectors }: MinilmResult): void {
  const length = vectors.length / Math.max(1, tokens.filter((count) => count !== undefined).length);
  let from = 0;
  for (const [position, itemIndex] of indexes.entries()) {
    const item = batch[itemIndex];
    if (item === undefined) continue;
    const count = tokens[position];
    const { request } = item;
    if (count === undefined) {
      request.reject(new InputTooLongError(item.index));
      continue;
    }
    request.embedded[item.index] = { vector: vectors.slice(from, from + length), tokens: count };
    from += length;
    request.completed += 1;
    if (request.completed === request.inputs.length) request.resolve(request.embedded);
  }
}
