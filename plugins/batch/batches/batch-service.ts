import { createHash } from 'node:crypto';
import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { newId } from '../../../src/contract/core/id.ts';
import type { JobQueue } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import {
  type BatchRecord,
  type BatchStore,
  FINAL_BATCH_STATUSES,
} from '../../../src/contract/stores/batch-store.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { type BatchParams, WINDOW_S } from './schema.ts';

export interface BatchServiceDeps {
  readonly batches: BatchStore;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Maximum number of unfinished batches per organization. */
  readonly openPerOrganization: number;
}

/** Creates and cancels batches. The lines of a batch are run by the batch job (runner/batch-job.ts). */
export class BatchService {
  readonly #deps: BatchServiceDeps;

  constructor(deps: BatchServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Stores a batch and adds it to the job queue.
   * @param key Idempotency key: a repeated request returns the batch of the first request.
   * @throws ServiceError as {@link BatchStore.create}.
   */
  async create(params: BatchParams, caller: Caller, key: string | undefined): Promise<BatchRecord> {
    const { batches, clock, openPerOrganization } = this.#deps;
    const created = unixSeconds(clock);
    const batch = await batches.create(
      {
        id: newId('batch_'),
        organization: caller.organization,
        keyId: caller.keyId,
        ...params,
        status: 'validating',
        times: { created, expires: created + WINDOW_S },
        counts: { total: 0, completed: 0, failed: 0 },
        tokens: { input: 0, output: 0 },
        errors: [],
      },
      openPerOrganization,
      key === undefined ? undefined : { key, fingerprint: fingerprintOf(params) },
    );
    await this.#queue(batch);
    return batch;
  }

  /** @throws ServiceError `not_found`; `conflict` if the batch is finalizing or finished. */
  async cancel(organization: string, id: string): Promise<BatchRecord> {
    const { batches, clock } = this.#deps;
    const found = await batches.cancel(organization, id, unixSeconds(clock));
    if (found === undefined) throw unknownBatch(id);
    if (found.accepted) return found.batch;
    throw new ServiceError('conflict', `Cannot cancel a batch with status '${found.batch.status}'.`);
  }

  /** @throws ServiceError `not_found`. */
  async get(organization: string, id: string): Promise<BatchRecord> {
    const batch = await this.#deps.batches.get(organization, id);
    if (batch === undefined) throw unknownBatch(id);
    return batch;
  }

  /**
   * Never rejects: the batch is stored already, and the reconciler queues it again. An error would make the client
   * create a second batch.
   */
  async #queue({ id, status }: BatchRecord): Promise<void> {
    if (FINAL_BATCH_STATUSES.has(status)) return;
    try {
      await this.#deps.jobs.enqueue('batch', id);
    } catch (error) {
      this.#deps.log.error('failed to queue a new batch; the reconciler will retry', error, {
        batch: id,
      });
    }
  }
}

function unknownBatch(id: string): ServiceError {
  return new ServiceError('not_found', `No batch found with id '${id.slice(0, 100)}'.`, { param: 'id' });
}

/** A hash of the normalized request: equal for requests that differ only in field order or whitespace. */
function fingerprintOf({ inputFile, endpoint, metadata, outputExpiresAfterS }: BatchParams): string {
  const pairs = metadata && Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([inputFile, endpoint, pairs, outputExpiresAfterS ?? null]);
  return createHash('sha256').update(text).digest('hex');
}
