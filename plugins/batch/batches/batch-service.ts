import { createHash } from 'node:crypto';
import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { newId } from '../../../src/contract/core/id.ts';
import type { JobQueue } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import { BATCH_ENDS, type BatchRecord, type BatchStore } from '../../../src/contract/stores/batch-store.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { type BatchAsk, WINDOW_S } from './schema.ts';

export interface BatchesParts {
  readonly batches: BatchStore;
  readonly jobs: Pick<JobQueue, 'add'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Batches of one organization that may not have ended. */
  readonly openPerOrganization: number;
}

/** Makes batches and cancels them, for whoever asks; what is in them is done by runners. */
export class Batches {
  readonly #parts: BatchesParts;

  constructor(parts: BatchesParts) {
    this.#parts = parts;
  }

  /**
   * @param key says that the request is the same as an earlier one: what that made is given then.
   * @throws ServiceError what {@link BatchStore.create} throws.
   */
  async create(ask: BatchAsk, caller: Caller, key: string | undefined): Promise<BatchRecord> {
    const { batches, clock, openPerOrganization } = this.#parts;
    const created = unixSeconds(clock);
    const batch = await batches.create(
      {
        id: newId('batch'),
        organization: caller.organization,
        keyId: caller.keyId,
        ...ask,
        status: 'validating',
        times: { created, expires: created + WINDOW_S },
        counts: { total: 0, completed: 0, failed: 0 },
        tokens: { input: 0, output: 0 },
        faults: [],
      },
      openPerOrganization,
      key === undefined ? undefined : { key, fingerprint: fingerprintOf(ask) },
    );
    await this.#queue(batch);
    return batch;
  }

  /** @throws ServiceError `not_found`, and `conflict` for a batch that cannot be cancelled any more. */
  async cancel(organization: string, id: string): Promise<BatchRecord> {
    const { batches, clock } = this.#parts;
    const found = await batches.cancel(organization, id, unixSeconds(clock));
    if (found === undefined) throw unknownBatch(id);
    if (found.accepted) return found.batch;
    throw new ServiceError('conflict', `Cannot cancel a batch with status '${found.batch.status}'.`);
  }

  /** @throws ServiceError `not_found`. */
  async get(organization: string, id: string): Promise<BatchRecord> {
    const batch = await this.#parts.batches.get(organization, id);
    if (batch === undefined) throw unknownBatch(id);
    return batch;
  }

  /**
   * The batch is stored, and whoever looks for forgotten ones finds it: a queue that cannot be reached is no reason
   * for a failure, after which the client would make another.
   */
  async #queue({ id, status }: BatchRecord): Promise<void> {
    if (BATCH_ENDS.has(status)) return;
    try {
      await this.#parts.jobs.add('batch', id);
    } catch (error) {
      this.#parts.log.error('a new batch could not be queued and waits for the next look', error, {
        batch: id,
      });
    }
  }
}

function unknownBatch(id: string): ServiceError {
  return new ServiceError('not_found', `No batch found with id '${id.slice(0, 100)}'.`, { param: 'id' });
}

/** The same for two requests that ask the same, however they were written. */
function fingerprintOf({ inputFile, endpoint, metadata, outputExpiresAfterS }: BatchAsk): string {
  const pairs = metadata && Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([inputFile, endpoint, pairs, outputExpiresAfterS ?? null]);
  return createHash('sha256').update(text).digest('hex');
}
