import type { CallJournal, JournalCall, MicroCredits } from '../contract/accounts/accounts-store.ts';
import type { NewCall, CallUsage, JobBill, JobCall } from '../contract/accounts/calls.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';
import type { Clock } from '../contract/core/clock.ts';
import { ServiceError } from '../contract/core/error.ts';
import { type Id, newId } from '../contract/core/id.ts';
import type { Logger } from '../contract/core/logger.ts';
import { unixSeconds } from '../kit/clock.ts';
import { creditText } from './credit-amounts.ts';
import { chargeOf, costOf, type FindPrice } from './prices.ts';

/** Ends that could not be stored and are tried again; those beyond are left to the next start. */
const MAX_UNSTORED = 10_000;

export interface CallLedgerDeps {
  readonly journal: CallJournal;
  readonly findPrice: FindPrice;
  /** Name of this process in the journal. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How a call names itself where it ends. */
type CallName = Pick<JournalCall, 'id' | 'requestId'>;

/** Steps of this process's calls, from their price to their end. */
export class CallLedger {
  readonly #parts: CallLedgerDeps;
  /** What is still to be stored of calls that have ended. */
  readonly #unstored = new Map<Id<'usage'>, () => Promise<void>>();

  constructor(parts: CallLedgerDeps) {
    this.#parts = parts;
  }

  /**
   * A call before its beginning, with the most that it may cost.
   * @param repeated whether its work is done again if this process dies.
   */
  prepareCall({ endpoint, model, caller, maxUsage: most }: NewCall, repeated: boolean): JournalCall {
    const { findPrice, instance, clock } = this.#parts;
    const { organization, requestId } = caller;
    const price = findPrice({ endpoint, model });
    return {
      ...{ endpoint, model, organization, requestId, instance, repeated },
      id: newId('usage'),
      openedAt: unixSeconds(clock),
      reserved: price === undefined ? 0 : costOf(price, most),
    };
  }

  /** @throws ServiceError `insufficient_quota` when the organization's credits do not cover what it reserves. */
  async openCall(call: JournalCall): Promise<void> {
    const short = await this.#parts.journal.openCall(call).catch((error: unknown) => {
      // It may have begun although the store failed to say so; what it holds must not stay held.
      this.#storeLater(call.id, () => this.#discard(call.id));
      throw error;
    });
    if (short !== undefined) throw insufficientQuota(call.reserved, short.available);
  }

  /** The row of a call that ends now, and what it costs. */
  createBill(call: JobCall, { status, ...consumed }: { status: UsageStatus } & CallUsage): JobBill {
    const { clock, findPrice } = this.#parts;
    const price = findPrice(call);
    return {
      record: { ...rowOf(call), ...consumed, status, createdAt: unixSeconds(clock) },
      cost: price === undefined ? 0 : chargeOf(price, status, consumed),
    };
  }

  /** Stores the end of a call, now or at a later beat. Never rejects. */
  async closeCall({ id, requestId }: CallName, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#parts.log.error('usage row could not be written', error, { request_id: requestId });
      this.#storeLater(id, step);
    }
  }

  /** Ends a call without a row, now or at a later beat. Never rejects. */
  discard(call: CallName): Promise<void> {
    return this.closeCall(call, () => this.#discard(call.id));
  }

  /**
   * Ends calls without rows. When one cannot be stored, those after it are not tried before a later beat either: each
   * might wait for a database that is away. Never rejects.
   */
  async discardAll(calls: readonly CallName[]): Promise<void> {
    for (const [at, { id, requestId }] of calls.entries()) {
      try {
        await this.#discard(id);
      } catch (error) {
        const fields = { request_id: requestId, calls: calls.length - at };
        this.#parts.log.error('calls could not be discarded', error, fields);
        for (const left of calls.slice(at)) this.#storeLater(left.id, () => this.#discard(left.id));
        return;
      }
    }
  }

  /**
   * Stores what could not be stored before. One that still cannot does not hold up the others.
   * @throws what the store threw first; what failed is kept.
   */
  async retryPending(): Promise<void> {
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

  #storeLater(id: Id<'usage'>, step: () => Promise<void>): void {
    if (this.#unstored.size < MAX_UNSTORED) this.#unstored.set(id, step);
  }

  async #discard(id: Id<'usage'>): Promise<void> {
    await this.#parts.journal.discardCall(id, unixSeconds(this.#parts.clock));
  }
}

/** The row of a call as far as its opening tells. */
export function rowOf({ id, endpoint, organization, requestId, model }: JobCall) {
  return { id, endpoint, organization, requestId, model };
}

/** The refusal of a call that may cost more than there is. */
export function insufficientQuota(needed: MicroCredits, available: MicroCredits): ServiceError {
  return new ServiceError(
    'insufficient_quota',
    `This may cost ${creditText(needed)} credits and your organization has ${creditText(available)} available. Ask for less, or have credits added.`,
    { code: 'insufficient_quota' },
  );
}
