import { Elysia } from 'elysia';
import type { BatchRecord, BatchStore } from '../../../src/contract/stores/batch-store.ts';
import type { StorageHealth } from '../../../src/contract/stores/storage-health.ts';
import { idempotencyKeyOf } from '../../../src/http/request/idempotency-key.ts';
import { pageIn, readQuery } from '../../../src/http/request/query.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import type { BatchService } from './batch-service.ts';
import * as docs from './openapi.ts';
import { batchObject } from './response.ts';
import { parseBatchParams } from './schema.ts';

const PAGE = { minimum: 1, maximum: 100, fallback: 20 };

interface BatchRouteDeps {
  readonly batches: Pick<BatchStore, 'list'>;
  readonly storage: StorageHealth;
}

/** Batch routes, compatible with OpenAI's SDK (spec 4.2; openai-wire 3). */
export function batchRoutes(batches: BatchService, { batches: store, storage }: BatchRouteDeps) {
  const toBatchObject = (batch: BatchRecord) => batchObject(batch, storage);
  return new Elysia({ name: 'batches', tags: ['batch'] })
    .post(
      '/v1/batches',
      async ({ body, request }) => {
        const key = idempotencyKeyOf(request);
        return toBatchObject(await batches.create(parseBatchParams(body), callerOf(request), key));
      },
      { detail: docs.CREATE },
    )
    .get(
      '/v1/batches',
      async ({ request }) => {
        const { limit, after } = pageIn(readQuery(request, ['limit', 'after']), PAGE);
        const { organization } = callerOf(request);
        const page = await store.list({ organization, limit, after });
        const data = page.batches.map(toBatchObject);
        return {
          object: 'list',
          data,
          first_id: data[0]?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
          has_more: page.hasMore,
        };
      },
      { detail: docs.LIST },
    )
    .get(
      '/v1/batches/:id',
      async ({ params: { id }, request }) => {
        return toBatchObject(await batches.get(callerOf(request).organization, id));
      },
      { detail: docs.RETRIEVE },
    )
    .post(
      '/v1/batches/:id/cancel',
      async ({ params: { id }, request }) =>
        toBatchObject(await batches.cancel(callerOf(request).organization, id)),
      { detail: docs.CANCEL },
    );
}
