/** Work that is billed as one call: a stream of items, or one result (spec 1.8, 4.3, 4.7; docs/decisions/credits.md). */

import type { Calls, CallUsage, NewCall, OpenCall } from '../contract/accounts/calls.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';
import { type Outcome, outcomeOf } from '../contract/core/outcome.ts';

/** The call of some work. */
export interface CallPlan extends NewCall {
  readonly calls: Calls;
  /** A request that is rejected before its first output leaves no usage row (default), or a failed one. */
  readonly rejections?: 'discarded' | 'recorded' | undefined;
  /** Called when the call is closed, and when it could not be opened. */
  readonly onClosed?: (() => void) | undefined;
}

/** Measures the usage of one call. */
export interface Meter<Item> {
  /** Counts an item before it is yielded. */
  add(item: Item): void;
  /** Whether there was any output. */
  readonly hasOutput: boolean;
  /** Whether no item follows. Absent: the work ends without a special item. */
  isLast?(item: Item): boolean;
  /**
   * Returns the usage so far; undefined if the call leaves no usage row.
   * @param hasReservation whether credits are reserved for the maximum usage of the call.
   */
  usage(status: UsageStatus, hasReservation: boolean): CallUsage | undefined;
}

/** @param hasReservation whether credits are reserved, so that the work must keep within the maximum usage of its call. */
export type BilledWork<Item> = (
  hasReservation: boolean,
) => AsyncIterable<Item> | Promise<AsyncIterable<Item>>;

/**
 * Runs work as one call: opens the call, runs the work, counts each item, and stores the usage row before the last item is
 * yielded, or before the iteration ends or throws. Items after an abort are neither counted nor yielded. Ending the iteration early cancels the call; throwing an error into it fails
 * the call.
 * @param signal the signal that stops the work. It decides whether an error is a cancellation.
 * @param onItem called for each item when it is counted, so never after an abort. An item that is yielded can arrive after it.
 * @throws ServiceError `insufficient_quota` or `rate_limited` if the call cannot be opened; the errors of the work; Error if the
 *   work ends without its last item.
 */
export async function* billed<Item>(
  { calls, rejections = 'discarded', onClosed, ...opening }: CallPlan,
  meter: Meter<Item>,
  work: BilledWork<Item>,
  signal: AbortSignal,
  onItem?: (item: Item) => void,
): AsyncGenerator<Item, void, undefined> {
  let call: OpenCall | undefined;
  /** The outcome if the consumer stops. */
  let outcome: Outcome = 'cancelled';
  try {
    call = await calls.openCall(opening);
    for await (const item of await work(call.hasReservation)) {
      signal.throwIfAborted();
      meter.add(item);
      onItem?.(item);
      if (meter.isLast?.(item)) {
        outcome = 'completed';
        await close(call, meter, outcome);
      }
      yield item;
    }
    if (meter.isLast && outcome !== 'completed') throw new Error('the work ended without its last item');
    outcome = 'completed';
  } catch (error) {
    outcome = outcomeOf(error, { signal, hasOutput: meter.hasOutput });
    if (outcome === 'rejected' && rejections === 'recorded') outcome = 'failed';
    throw error;
  } finally {
    if (call !== undefined) await close(call, meter, outcome);
    onClosed?.();
  }
}

/** Closes the call. Only the first close has an effect. */
async function close<Item>(call: OpenCall, meter: Meter<Item>, outcome: Outcome): Promise<void> {
  const usage = outcome === 'rejected' ? undefined : meter.usage(outcome, call.hasReservation);
  if (outcome === 'rejected' || usage === undefined) await call.discard();
  else await call.close({ ...usage, status: outcome });
}

/**
 * Runs work with one result as one call, see {@link billed}. The usage row is stored before the result is returned.
 * @param usage the usage with this result, or without one.
 */
export async function billedResult<Result>(
  plan: CallPlan,
  usage: (result: Result | undefined) => CallUsage,
  work: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  let result: Result | undefined;
  const meter: Meter<Result> = {
    hasOutput: false,
    add: (item) => {
      result = item;
    },
    isLast: () => true,
    usage: () => usage(result),
  };
  async function* items(): AsyncGenerator<Result, void, undefined> {
    yield await work();
  }
  for await (const item of billed(plan, meter, items, signal)) return item;
  throw new Error('the work ended without its result');
}
