import { join } from 'node:path';
import type { AnyElysia } from 'elysia';
import { buildApp } from '../../server/app.ts';
import type { CreditStore } from '../../src/contract/accounts/accounts-store.ts';
import type { Calls } from '../../src/contract/accounts/calls.ts';
import type { RequestLimits } from '../../src/contract/accounts/limits.ts';
import type { Price } from '../../src/contract/accounts/prices.ts';
import type { ServiceError } from '../../src/contract/core/error.ts';
import type { Tracer } from '../../src/contract/core/tracer.ts';
import type { Route } from '../../src/contract/route.ts';
import type { ListedModel } from '../../src/http/routes/models.ts';
import type { PluginSwitches } from '../../src/http/routes/plugins.ts';
import type { ModelReadiness, PluginReadiness } from '../../src/http/routes/readiness.ts';
import type { ServingPhase } from '../../src/http/routes/serving-phase.ts';
import { authenticator } from '../../src/http/security/auth.ts';
import { originRules } from '../../src/http/security/cors.ts';
import { InvalidKeyThrottle } from '../../src/http/security/invalid-key-throttle.ts';
import { clientAddress } from '../../src/http/transport/client-address.ts';
import { type ConnectionServer, setServerOf } from '../../src/http/transport/connection-server.ts';
import { hashApiKey } from '../../src/kit/keys/api-key.ts';
import type { ByteLimits } from '../../src/kit/limits/byte-budget.ts';
import { noopTracer } from '../../src/kit/logging/spans.ts';
import { createMetrics, type MetricsRegistry } from '../../src/metrics/registry.ts';
import { apiKeyStore } from '../../src/records/accounts/api-key-store.ts';
import { callJournal } from '../../src/records/accounts/call-journal.ts';
import { creditStore } from '../../src/records/accounts/credit-store.ts';
import { usageStore } from '../../src/records/accounts/usage-store.ts';
import { Accounts } from '../../src/usage/accounts.ts';
import { CallLedger } from '../../src/usage/call-ledger.ts';
import { areFree, priceList } from '../../src/usage/prices.ts';
import { rowMetrics } from '../../src/usage/row-metrics.ts';
import { noCallLimits, noRequestLimits } from '../../tools/harness/doubles/doubles.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { routesOf } from './mounted.ts';

/** Keys of {@link testApp}, one for each of two organizations. */
export const KEY_A = 'key-of-a';
/** Id of {@link KEY_A}. */
export const KEY_ID_A = hashApiKey(KEY_A).slice(0, 16);
export const KEY_B = 'key-of-b';

export interface TestAppOptions {
  /** Routes of plugins: each entry has those of one feature. */
  readonly routes?: readonly (readonly Route[] | AnyElysia)[];
  readonly readiness?: () => ReadonlyMap<string, PluginReadiness>;
  readonly unavailableError?: (path: string) => ServiceError | undefined;
  readonly plugins?: PluginSwitches;
  readonly requestBytes?: number;
  /** Default: no limit. */
  readonly bodyLimits?: ByteLimits;
  readonly models?: () => ReadonlyMap<string, ModelReadiness>;
  readonly loadModel?: (id: string) => void;
  readonly requiredModels?: readonly string[];
  readonly phase?: () => ServingPhase;
  readonly consoleFolder?: string;
  readonly allowedOrigins?: readonly string[];
  readonly securityContact?: string;
  readonly invalidKeysPerMinute?: number;
  readonly requestLimits?: RequestLimits;
  readonly showMetrics?: boolean;
  readonly tracer?: Tracer;
  readonly prices?: readonly Price[];
  /** More keys of organization `a`. */
  readonly keysOfA?: readonly string[];
  /** Models of `GET /v1/models`. Default: two models of task `speech`. */
  readonly listedModels?: readonly ListedModel[];
}

export interface TestApp {
  readonly app: AnyElysia;
  readonly clock: ManualClock;
  readonly log: RecordingLogger;
  readonly metrics: MetricsRegistry;
  readonly calls: Calls;
  readonly credits: CreditStore;
  /** The server of the requests; tests may replace its methods. */
  readonly server: ConnectionServer;
  /** Sends a request with the key of organization `a`, unless `init` has headers. */
  send(path: string, init?: RequestInit): Promise<Response>;
  close(): void;
}

/** The app with an in-memory database, without a socket. */
export function testApp(options: TestAppOptions = {}): TestApp {
  const clock = new ManualClock();
  const log = new RecordingLogger();
  const metrics = createMetrics(clock);
  const records = memoryRecords();
  const usage = usageStore(records);
  const credits = creditStore(records);
  const keysOfA = [KEY_A, ...(options.keysOfA ?? [])];
  const fixedKeys = [
    ...keysOfA.map((key) => ({ keyHash: hashApiKey(key), organization: 'a' })),
    { keyHash: hashApiKey(KEY_B), organization: 'b' },
  ];
  const keys = apiKeyStore(records, clock);
  const app = buildApp({
    version: '0.0.0',
    consoleFolder: options.consoleFolder ?? join(import.meta.dirname, '../fixtures/console'),
    clock,
    log,
    metrics,
    tracer: options.tracer ?? noopTracer,
    showMetrics: options.showMetrics ?? true,
    authenticate: authenticator({
      fixedKeys,
      store: keys,
      operators: ['a'],
      invalidKeys: new InvalidKeyThrottle(options.invalidKeysPerMinute ?? 1_000_000, clock),
      addressOf: clientAddress([]),
    }),
    origins: originRules(options.allowedOrigins),
    securityContact: options.securityContact,
    requestLimits: options.requestLimits ?? noRequestLimits,
    requestBytes: options.requestBytes ?? 64 * 1024,
    bodyLimits: options.bodyLimits ?? { bytesPerKey: 2 ** 30, totalBytes: 2 ** 30 },
    models: options.listedModels ?? ['svc-tts', 'svc-tts-fast'].map((id) => ({ id, task: 'speech' })),
    keys,
    usage,
    credits,
    isFree: areFree(options.prices ?? []),
    startedAt: Math.floor(clock.now() / 1000),
    registry: {
      routes: (options.routes ?? []).flatMap((each) => ('handle' in each ? routesOf(each) : each)),
      tags: [],
      readiness: options.readiness ?? (() => new Map()),
      modelReadiness: options.models ?? (() => new Map()),
      loadModel: options.loadModel ?? (() => undefined),
      unavailableError: options.unavailableError ?? (() => undefined),
    },
    plugins: options.plugins ?? { list: async () => [], set: () => Promise.reject(new Error('no plugins')) },
    requiredModels: new Set(options.requiredModels),
    storage: { isFull: () => false },
    phase: options.phase ?? (() => 'serving'),
  });
  const server: ConnectionServer = {
    timeout: () => undefined,
    upgrade: () => false,
    requestIP: () => ({ address: '192.0.2.1' }),
  };
  const journal = callJournal(records);
  const findPrice = priceList(options.prices ?? []);
  const ledger = new CallLedger({ journal, findPrice, instance: 'test', clock, log });
  return {
    app,
    server,
    clock,
    log,
    metrics,
    calls: new Accounts({
      ledger,
      rows: rowMetrics(metrics),
      journal,
      limits: noCallLimits,
      clock,
      log,
      metrics,
    }),
    credits,
    async send(path, init = {}) {
      const request = new Request(`http://service.test${path}`, {
        headers: { 'x-api-key': KEY_A },
        ...init,
      });
      setServerOf(server, request);
      return app.handle(request);
    },
    close() {
      metrics.close();
      // An in-memory database closes synchronously.
      void records.close();
    },
  };
}
