import type { CallJournal, JournalCall, MicroCredits } from '../contract/accounts/accounts-store.ts';
import type { CallUsage, JobBill, JobCall, NewCall } from '../contract/accounts/calls.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';
import type { Clock } from '../contract/core/clock.ts';
import { ServiceError } from '../contract/core/error.ts';
import { type Id, newGrowingId } from '../contract/core/id.ts';
import type { Logger } from '../contract/core/logger.ts';
import { unixSeconds } from '../kit/clock.ts';
import { creditText } from './credit-amounts.ts';
import { chargeOf, costOf, type FindPrice } from './prices.ts';

/** Maximum number of unstored call results that are retried; further ones are recovered at the next start. */
const MAX_PENDING = 10_000;

export interface CallLedgerDeps {
  readonly journal: CallJournal;
  readonly findPrice: FindPrice;
  /** Id of this process in the journal. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Ids that identify a call when it is closed. */
type CallName = Pick<JournalCall, 'id' | 'requestId'>;

/** Lifecycle of this process's calls, from price lookup to the usage row. */
export class CallLedger {
  readonly #deps: CallLedgerDeps;
  /** Pending store operations of closed calls. */
  readonly #pending = new Map<Id<'usage_'>, () => Promise<void>>();

  constructor(deps: CallLedgerDeps) {
    this.#deps = deps;
  }

  /**
   * Creates a call with the reservation for its maximum cost.
   * @param repeated whether the work is repeated if this process crashes.
   */
  prepareCall({ endpoint, model, caller, maxUsage }: NewCall, repeated: boolean): JournalCall {
    const { findPrice, instance, clock } = this.#deps;
    const { organization, requestId } = caller;
    const price = findPrice({ endpoint, model });
    return {
      endpoint,
      model,
      organization,
      requestId,
      instance,
      repeated,
      id: newGrowingId('usage_'),
      openedAt: unixSeconds(clock),
      reserved: price === undefined ? 0 : costOf(price, maxUsage),
    };
  }

  /**
   * Opens a call in the journal.
   * @throws ServiceError `insufficient_quota` if the credits of the organization do not cover the
   *   reservation.
   */
  async openCall(call: JournalCall): Promise<void> {
    const shortfall = await this.#deps.journal.openCall(call).catch((error: unknown) => {
      // The call may be open although the store reported an error; its reservation must be released.
      this.#retryLater(call.id, () => this.#discard(call.id));
      throw error;
    });
    if (shortfall !== undefined) throw insufficientQuota(call.reserved, shortfall.available);
  }

  /** Creates the usage row of a call that ends now, and its cost. */
  createBill(call: JobCall, { status, ...consumed }: { status: UsageStatus } & CallUsage): JobBill {
    const { clock, findPrice } = this.#deps;
    const price = findPrice(call);
    return {
      record: { ...rowOf(call), ...consumed, status, createdAt: unixSeconds(clock) },
      cost: price === undefined ? 0 : chargeOf(price, status, consumed),
    };
  }

  /** Stores the result of a call, now or on a later heartbeat. Never rejects. */
  async closeCall({ id, requestId }: CallName, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#deps.log.error('usage row could not be written', error, { request_id: requestId });
      this.#retryLater(id, step);
    }
  }

  /** Discards a call without a usage row, now or on a later heartbeat. Never rejects. */
  discard(call: CallName): Promise<void> {
    return this.closeCall(call, () => this.#discard(call.id));
  }

  /**
   * Discards calls without usage rows. After a failure the remaining calls are left to a later heartbeat,
   * because each attempt might wait for an unavailable database. Never rejects.
   */
  async discardAll(calls: readonly CallName[]): Promise<void> {
    for (const [at, { id, requestId }] of calls.entries()) {
      try {
        await this.#discard(id);
      } catch (error) {
        const fields = { request_id: requestId, calls: calls.length - at };
        this.#deps.log.error('calls could not be discarded', error, fields);
        for (const left of calls.slice(at)) this.#retryLater(left.id, () => this.#discard(left.id));
        return;
      }
    }
  }

  /**
   * Retries pending store operations. A failure does not block the others.
   * @throws the first error; failed operations stay pending.
   */
  async retryPending(): Promise<void> {
    const failures: unknown[] = [];
    for (const [id, step] of this.#pending) {
      try {
        await step();
        this.#pending.delete(id);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  #retryLater(id: Id<'usage_'>, step: () => Promise<void>): void {
    if (this.#pending.size < MAX_PENDING) this.#pending.set(id, step);
  }

  async #discard(id: Id<'usage_'>): Promise<void> {
    await this.#deps.journal.discardCall(id, unixSeconds(this.#deps.clock));
  }
}

/** Returns the fields of the usage row that are known when the call opens. */
export function rowOf({ id, endpoint, organization, requestId, model }: JobCall) {
  return { id, endpoint, organization, requestId, model };
}

/** Creates the error for a call whose maximum cost exceeds the available credits. */
export function insufficientQuota(needed: MicroCredits, available: MicroCredits): ServiceError {
  return new ServiceError(
    'insufficient_quota',
    `Insufficient credits: this request may cost up to ${creditText(needed)}, and ${creditText(available)} are available. Request less or add credits.`,
    { code: 'insufficient_quota' },
  );
}
