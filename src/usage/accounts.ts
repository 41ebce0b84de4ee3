import type { CallJournal, JournalCall, MicroCredits } from '../contract/accounts-store.ts';
import type { CallOpening, Calls, Consumed, OpenCall } from '../contract/calls.ts';
import type { Clock } from '../contract/clock.ts';
import { ServiceError } from '../contract/error.ts';
import { type Id, newId } from '../contract/id.ts';
import type { CallLimits } from '../contract/limits.ts';
import type { Logger } from '../contract/logger.ts';
import type { Metrics } from '../contract/metrics.ts';
import type { UsageRecord, UsageStatus } from '../contract/usage.ts';
import { unixSeconds } from '../kit/clock.ts';
import { creditText } from './credit-amounts.ts';
import { chargeOf, costOf, type FindPrice } from './prices.ts';
import { type RowMetrics, rowMetrics } from './row-metrics.ts';

/** Ends that could not be stored and are tried again; those beyond are left to the next start. */
const MOST_UNSTORED = 10_000;

export interface AccountsParts {
  readonly journal: CallJournal;
  readonly findPrice: FindPrice;
  readonly limits: CallLimits;
  /** Name of this process in the journal. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Opens and closes calls: the one writer of usage rows, and the one that charges for them. */
export class Accounts implements Calls {
  readonly #parts: AccountsParts;
  readonly #rows: RowMetrics;
  /** What is still to be stored of calls that have ended. */
  readonly #unstored = new Map<Id<'usage'>, () => Promise<void>>();
  #open = 0;

  constructor(parts: AccountsParts) {
    this.#parts = parts;
    this.#rows = rowMetrics(parts.metrics);
    parts.metrics.gauge('usage_open_calls', 'Calls that have begun and not ended.', () => this.#open);
  }

  async open({ endpoint, model, caller, most }: CallOpening): Promise<OpenCall> {
    const { findPrice, instance, clock, limits } = this.#parts;
    const { organization, requestId } = caller;
    const price = findPrice({ endpoint, model });
    const call: JournalCall = {
      ...{ endpoint, model, organization, requestId },
      id: newId('usage'),
      instance,
      openedAt: unixSeconds(clock),
      reserved: price === undefined ? 0 : costOf(price, most),
    };
    const leave = await limits.enter(caller, call.id);
    try {
      await this.#begin(call);
    } catch (error) {
      leave();
      throw error;
    }
    this.#open += 1;
    let ended: Promise<void> | undefined;
    const end = (step: () => Promise<void>): Promise<void> => {
      ended ??= this.#end(call, step).finally(leave);
      return ended;
    };
    return {
      close: (outcome) => end(() => this.#close(call, outcome)),
      discard: () => end(() => this.#discard(call)),
    };
  }

  async #begin(call: JournalCall): Promise<void> {
    const short = await this.#parts.journal.begin(call).catch((error: unknown) => {
      // It may have begun although the store failed to say so; what it holds must not stay held.
      this.#storeLater(call.id, () => this.#discard(call));
      throw error;
    });
    if (short !== undefined) throw insufficientQuota(call.reserved, short.available);
  }

  /**
   * Stores what could not be stored before. One that still cannot does not hold up the others.
   * @throws what the store threw first; what failed is kept.
   */
  async storeAgain(): Promise<void> {
    const failures: unknown[] = [];
    for (const [id, step] of this.#unstored) {
      try {
        await step();
        this.#unstored.delete(id);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Ends a call of a process that died: nobody knows what it consumed, so it is charged nothing and its
   * reservation is freed. False when another process was faster.
   */
  async recover(call: JournalCall): Promise<boolean> {
    const record = { ...rowOf(call), status: 'failed', inputTokens: 0, outputTokens: 0 } as const;
    const stored = await this.#parts.journal.end(record, 0);
    if (stored !== undefined) this.#rows.add(record);
    return stored !== undefined;
  }

  async #end({ id, requestId }: JournalCall, step: () => Promise<void>): Promise<void> {
    this.#open -= 1;
    try {
      await step();
    } catch (error) {
      this.#parts.log.error('usage row could not be written', error, { request_id: requestId });
      this.#storeLater(id, step);
    }
  }

  #storeLater(id: Id<'usage'>, step: () => Promise<void>): void {
    if (this.#unstored.size < MOST_UNSTORED) this.#unstored.set(id, step);
  }

  async #close(
    call: JournalCall,
    { status, ...consumed }: { status: UsageStatus } & Consumed,
  ): Promise<void> {
    const { clock, findPrice, journal, log } = this.#parts;
    const record: UsageRecord = { ...rowOf(call), ...consumed, status, createdAt: unixSeconds(clock) };
    const price = findPrice(call);
    const cost = price === undefined ? 0 : chargeOf(price, status, consumed);
    const stored = await journal.end(record, cost);
    const fields = { request_id: call.requestId, endpoint: call.endpoint };
    if (stored === undefined) {
      // Another process took this one for dead, or the store had done it although it failed to say so.
      log.warn('call had its usage row already', fields);
      return;
    }
    this.#rows.add(record);
    const missing = cost - stored.charged;
    if (missing > 0) log.warn('call cost more than its credits', { ...fields, missing: creditText(missing) });
  }

  async #discard({ id }: JournalCall): Promise<void> {
    await this.#parts.journal.discard(id, unixSeconds(this.#parts.clock));
  }
}

/** The row of a call as far as its opening tells. */
function rowOf({ id, endpoint, organization, requestId, model, openedAt }: JournalCall) {
  return { id, endpoint, organization, requestId, model, createdAt: openedAt };
}

function insufficientQuota(needed: MicroCredits, available: MicroCredits): ServiceError {
  return new ServiceError(
    'insufficient_quota',
    `This may cost ${creditText(needed)} credits and your organization has ${creditText(available)} available. Ask for less, or have credits added.`,
    { code: 'insufficient_quota' },
  );
}
