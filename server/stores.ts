import type { ApiKeyStore } from '../src/contract/accounts/api-key.ts';
import type { Clock } from '../src/contract/core/clock.ts';
import type { Logger } from '../src/contract/core/logger.ts';
import type { Metrics } from '../src/contract/core/metrics.ts';
import { STORAGE_PLACES, type StoragePlace } from '../src/contract/stores/storage-health.ts';
import { FullStorage, freeBytesOf } from '../src/kit/storage/full-storage.ts';
import { apiKeyStore } from '../src/records/accounts/api-key-store.ts';
import { cachedApiKeyStore } from '../src/records/accounts/cached-api-key-store.ts';
import { callJournal } from '../src/records/accounts/call-journal.ts';
import { creditStore } from '../src/records/accounts/credit-store.ts';
import { organizationStore } from '../src/records/accounts/organization-store.ts';
import { usageStore } from '../src/records/accounts/usage-store.ts';
import { openRecords } from '../src/records/open-records.ts';
import type { Records } from '../src/records/schema/records.ts';
import { batchStore } from '../src/records/stores/batch-store.ts';
import { cachedLexicons } from '../src/records/stores/cached-lexicons.ts';
import { fileStore } from '../src/records/stores/file-store.ts';
import { jobStore } from '../src/records/stores/job-store.ts';
import { lexiconStore } from '../src/records/stores/lexicon-store.ts';
import { pluginSwitchStore } from '../src/records/stores/plugin-switch-store.ts';
import { responseStore } from '../src/records/stores/response-store.ts';
import { videoStore } from '../src/records/stores/video-store.ts';
import { voiceStore } from '../src/records/stores/voice-store.ts';
import type { Config } from './config.ts';

/** Reports a failed operation of a store. */
export type StoreFailures = (store: 'database' | 'redis' | 'blobs') => (error?: unknown) => void;

/** The stores of the core and of the plugins. */
export type Stores = ReturnType<typeof storesOf>;

/** Watches the space of the stores, for `/readyz` and `/metrics`. */
export function openStorage(
  { dataDir, database, blobs }: Config,
  clock: Clock,
  metrics: Metrics,
): FullStorage {
  const local = new Set<StoragePlace>(['data_dir']);
  if (database.kind === 'sqlite') local.add('database');
  if (blobs.kind === 'disk') local.add('blobs');
  const storage = new FullStorage({ local, clock, readFreeBytes: () => freeBytesOf(dataDir) });
  for (const place of STORAGE_PLACES) {
    const help = `1 while the ${place} store is full, otherwise 0.`;
    metrics.gauge(`storage_${place}_full`, help, () => (storage.isFull(place) ? 1 : 0));
  }
  const help = 'Free space of the disk of DATA_DIR for the service; NaN if unknown.';
  metrics.gauge('storage_free_bytes', help, () => storage.freeBytes ?? Number.NaN);
  return storage;
}

/** Counts failed operations of stores, and tells `storage` their errors. */
export function storeFailures(metrics: Metrics, storage: FullStorage): StoreFailures {
  const failures = metrics.counter('store_failures_total', 'Failed operations of a store.', ['store']);
  return (store) => (error) => {
    failures.add({ store });
    if (store !== 'redis') storage.recordFailure(store, error);
  };
}

export function openDatabase({ database }: Config, log: Logger, failures: StoreFailures): Promise<Records> {
  const onConnectionLost = (error: Error) => log.error('database connection lost', error);
  return openRecords(database, onConnectionLost, failures('database'));
}

/** The stores in the database. Stores the organizations of API_KEYS. */
export async function openStores(
  records: Records,
  { apiKeys, lexicon }: Config,
  clock: Clock,
): Promise<Stores> {
  await organizationStore(records, clock).ensure(apiKeys.map(({ organization }) => organization));
  return storesOf(records, lexicon, clock);
}

function storesOf(records: Records, lexicon: Config['lexicon'], clock: Clock) {
  return {
    keys: keysOf(records, clock),
    usage: usageStore(records),
    credits: creditStore(records),
    journal: callJournal(records),
    jobs: jobStore(records),
    switches: pluginSwitchStore(records, clock),
    /** Services of plugins. */
    slots: {
      responses: responseStore(records),
      files: fileStore(records),
      batches: batchStore(records),
      voices: voiceStore(records),
      lexicons: cachedLexicons(lexiconStore(records, clock), lexicon, clock),
      videos: videoStore(records),
    },
  };
}

/** Each request looks up its key. A query takes microseconds in SQLite, so only PostgreSQL needs a cache. */
function keysOf(records: Records, clock: Clock): ApiKeyStore {
  const keys = apiKeyStore(records, clock);
  return records.engine === 'postgres' ? cachedApiKeyStore(keys, clock) : keys;
}
