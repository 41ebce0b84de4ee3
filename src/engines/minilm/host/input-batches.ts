/**
 * Requests that wait for the same model, worked on together: whenever a batch may begin, it takes what waits at
 * that moment, of every owner in turn, so that a small request need not wait for the end of a large one.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { EmbedRequest } from '../../../contract/engines/embed.ts';
import type { Priority } from '../../../contract/engines/engine.ts';
import { requireQueueSlot } from '../../pool/queue-quota.ts';
import type { MinilmResult } from '../shared/protocol.ts';

type Input = EmbedRequest['inputs'][number];

/** What came of one input. */
export interface Embedded {
  readonly vector: Float32Array<ArrayBuffer>;
  readonly tokens: number;
}

/** An input has more tokens than the model takes. */
export class InputTooLong extends Error {
  constructor(readonly place: number) {
    super('an input is too long');
  }
}

/** Runs one batch; its results come in any order. */
export type RunBatch = (
  inputs: readonly Input[],
  of: { readonly priority: Priority; readonly fairnessKey: string },
  signal: AbortSignal,
) => AsyncIterable<MinilmResult>;

/** Largest batch. About four characters make a token, so it is worked on for half a second or so. */
const BATCH_INPUTS = 64;
const BATCH_CHARACTERS = 16_000;

const CLASSES: readonly Priority[] = ['realtime', 'interactive', 'batch'];

/** A request that is not done. */
interface OpenRequest extends Pick<EmbedRequest, 'inputs' | 'priority' | 'fairnessKey'> {
  /** Does work where it was asked for, for its trace. */
  readonly asItsPart: <Result>(work: () => Result) => Result;
  readonly embedded: Embedded[];
  /** Inputs that a batch has taken. */
  taken: number;
  /** Inputs whose results are there. */
  done: number;
  readonly resolve: (embedded: readonly Embedded[]) => void;
  readonly reject: (error: unknown) => void;
}

/** An input of a batch. */
interface Taken {
  readonly request: OpenRequest;
  readonly place: number;
}

export class InputBatches {
  readonly #atOnce: number;
  readonly #places: number;
  readonly #run: RunBatch;
  /** By arrival; whoever was served goes to the end. */
  readonly #open = new Set<OpenRequest>();
  readonly #closed = new AbortController();
  /** Batches of each priority that run. */
  readonly #running = new Map<Priority, number>();
  #scheduled = false;

  /**
   * @param atOnce batches of one priority that run at once; who is in a hurry does not wait for who is not.
   * @param places open requests of each priority.
   */
  constructor(atOnce: number, places: number, run: RunBatch) {
    this.#atOnce = atOnce;
    this.#places = places;
    this.#run = run;
  }

  /**
   * One result for each input, in order.
   * @throws InputTooLong; ServiceError `rate_limited` when too many requests of the owner are open, `overloaded` when too many
   *   are; what a batch throws; the signal's reason.
   */
  async embed(request: EmbedRequest, signal: AbortSignal): Promise<readonly Embedded[]> {
    this.#admit(request);
    const { inputs, priority, fairnessKey } = request;
    const { promise, resolve, reject } = Promise.withResolvers<readonly Embedded[]>();
    const asItsPart = AsyncLocalStorage.snapshot();
    const open = { inputs, priority, fairnessKey, asItsPart, embedded: [], taken: 0, done: 0, resolve, reject };
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    this.#open.add(open);
    this.#schedule();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#open.delete(open);
    }
  }

  /** Fails what is open. Idempotent. */
  close(): void {
    this.#closed.abort(shuttingDown());
    for (const request of this.#open) request.reject(this.#closed.signal.reason);
  }

  #admit({ priority, fairnessKey }: EmbedRequest): void {
    this.#closed.signal.throwIfAborted();
    const open = this.#open.values().filter((request) => request.priority === priority);
    requireQueueSlot(open, fairnessKey, this.#places);
  }

  /** What arrives in one tick of the event loop is looked at together. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    for (const priority of CLASSES) {
      while (this.#runningOf(priority) < this.#atOnce && !this.#closed.signal.aborted) {
        const batch = this.#take(priority);
        const [first] = batch;
        if (first === undefined) break;
        this.#running.set(priority, this.#runningOf(priority) + 1);
        const { request } = first;
        const work = request.asItsPart(() => this.#work(batch, request));
        void work.finally(() => {
          this.#running.set(priority, this.#runningOf(priority) - 1);
          this.#begin();
        });
      }
    }
  }

  #runningOf(priority: Priority): number {
    return this.#running.get(priority) ?? 0;
  }

  /** The inputs of the next batch of a priority, of its owners' requests in turn, one input at a time. */
  #take(priority: Priority): Taken[] {
    const waiting = [...this.#open].filter(
      (request) => request.priority === priority && request.taken < request.inputs.length,
    );
    const batch: Taken[] = [];
    let characters = 0;
    let owners = [...Map.groupBy(waiting, ({ fairnessKey }) => fairnessKey).values()];
    while (owners.length > 0) {
      for (const requests of owners) {
        const request = requests.find(({ taken, inputs }) => taken < inputs.length);
        const input = request?.inputs[request.taken];
        if (request === undefined || input === undefined) continue;
        characters += typeof input === 'string' ? input.length : input.length * 4;
        if (batch.length > 0 && characters > BATCH_CHARACTERS) return this.#toTheEnd(batch);
        batch.push({ request, place: request.taken });
        request.taken += 1;
        if (batch.length === BATCH_INPUTS) return this.#toTheEnd(batch);
      }
      owners = owners.filter((requests) => requests.some(({ taken, inputs }) => taken < inputs.length));
    }
    return batch;
  }

  /** Those that this batch serves come after the others next time. */
  #toTheEnd(batch: Taken[]): Taken[] {
    for (const { request } of batch) {
      if (this.#open.delete(request)) this.#open.add(request);
    }
    return batch;
  }

  async #work(batch: readonly Taken[], of: OpenRequest): Promise<void> {
    const inputs = batch.flatMap(({ request, place }) => request.inputs.slice(place, place + 1));
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#closed.signal, stop.signal]);
    try {
      for await (const result of this.#run(inputs, of, signal)) {
        deliver(batch, result);
        // Nobody waits for the rest.
        if (batch.every(({ request }) => !this.#open.has(request))) stop.abort(new Error('nobody waits'));
      }
    } catch (error) {
      // A place that one owner does not get is not refused to those who share the batch.
      const isRefusal = error instanceof ServiceError && error.kind === 'rate_limited';
      const isFailed = ({ request }: Taken) => !isRefusal || request.fairnessKey === of.fairnessKey;
      for (const { request } of batch.filter(isFailed)) request.reject(error);
      const rest = batch.filter((taken) => !isFailed(taken));
      const next = rest[0]?.request;
      await next?.asItsPart(() => this.#work(rest, next));
    }
  }
}

function deliver(batch: readonly Taken[], { places, tokens, vectors }: MinilmResult): void {
  const length = vectors.length / Math.max(1, tokens.filter((count) => count !== undefined).length);
  let from = 0;
  for (const [at, place] of places.entries()) {
    const taken = batch[place];
    if (taken === undefined) continue;
    const count = tokens[at];
    const { request } = taken;
    if (count === undefined) {
      request.reject(new InputTooLong(taken.place));
      continue;
    }
    request.embedded[taken.place] = { vector: vectors.slice(from, from + length), tokens: count };
    from += length;
    request.done += 1;
    if (request.done === request.inputs.length) request.resolve(request.embedded);
  }
}
