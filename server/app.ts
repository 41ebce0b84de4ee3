import { type AnyElysia, Elysia } from 'elysia';
import type { CreditStore } from '../src/contract/accounts/accounts-store.ts';
import type { ApiKeyStore } from '../src/contract/accounts/api-key.ts';
import type { RequestLimits } from '../src/contract/accounts/limits.ts';
import type { UsageReader } from '../src/contract/accounts/usage.ts';
import type { Clock } from '../src/contract/core/clock.ts';
import type { Logger } from '../src/contract/core/logger.ts';
import type { Tracer } from '../src/contract/core/tracer.ts';
import type { Route } from '../src/contract/route.ts';
import type { StorageHealth } from '../src/contract/stores/storage-health.ts';
import { mount } from '../src/http/mount.ts';
import { bodyBudget } from '../src/http/request/body-budget.ts';
import { consoleRoutes } from '../src/http/routes/console.ts';
import { docsRoutes } from '../src/http/routes/docs.ts';
import { healthRoutes } from '../src/http/routes/health.ts';
import { keyRoutes } from '../src/http/routes/keys.ts';
import { metricsRoutes } from '../src/http/routes/metrics.ts';
import { type ListedModel, modelRoutes } from '../src/http/routes/models.ts';
import { openapiRoutes } from '../src/http/routes/openapi.ts';
import { organizationRoutes } from '../src/http/routes/organization.ts';
import { type PluginSwitches, pluginRoutes } from '../src/http/routes/plugins.ts';
import { storageReports } from '../src/http/routes/readiness.ts';
import { securityTxtRoutes } from '../src/http/routes/security-txt.ts';
import type { ServingPhase } from '../src/http/routes/serving-phase.ts';
import type { Authenticator } from '../src/http/security/auth.ts';
import type { OriginRules } from '../src/http/security/cors.ts';
import { requestHooks } from '../src/http/server/request-hooks.ts';
import { requestSpans } from '../src/http/server/request-spans.ts';
import { routeTable } from '../src/http/server/route-table.ts';
import type { ByteLimits } from '../src/kit/limits/byte-budget.ts';
import type { MetricsRegistry } from '../src/metrics/registry.ts';
import type { Registry } from '../src/plugin-host/registry.ts';
import { creditRoutes } from '../src/usage/credit-routes.ts';
import { usageRoutes } from '../src/usage/usage-routes.ts';
import { usageSummaryRoutes } from '../src/usage/usage-summary-routes.ts';

export interface AppDeps {
  readonly version: string;
  /** Folder of the built console. */
  readonly consoleFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly tracer: Tracer;
  /** False if `/metrics` has its own port. */
  readonly showMetrics: boolean;
  readonly authenticate: Authenticator;
  readonly origins: OriginRules;
  /** Security contact; undefined for none. */
  readonly securityContact: string | undefined;
  readonly requestLimits: RequestLimits;
  readonly requestBytes: number;
  /** Limits of the memory of bodies that are being received. */
  readonly bodyLimits: ByteLimits;
  /** Models listed by the API. */
  readonly models: readonly ListedModel[];
  /** Start time of the process, in Unix seconds. */
  readonly startedAt: number;
  readonly keys: Pick<ApiKeyStore, 'create' | 'listOf' | 'revoke'>;
  readonly usage: UsageReader;
  readonly credits: Pick<CreditStore, 'balance'>;
  /** Whether all calls are free. */
  readonly isFree: boolean;
  readonly registry: Pick<
    Registry,
    'routes' | 'tags' | 'readiness' | 'modelReadiness' | 'loadModel' | 'unavailableError'
  >;
  readonly plugins: PluginSwitches;
  /** Ids of the models that must be available for the process to be ready. */
  readonly requiredModels: ReadonlySet<string>;
  readonly storage: StorageHealth;
  readonly phase: () => ServingPhase;
}

/** Builds the HTTP application: routes of the core and of the running plugins. Does not listen. */
export function buildApp(deps: AppDeps): AnyElysia {
  const { registry } = deps;
  const described = [...coreRoutes(deps), ...registry.routes];
  const routes = [...described, ...openapiRoutes(deps.version, registry.tags, described)];
  const app = new Elysia({
    name: 'app',
    // The framework's faster path lookup assumes a host name of at least four letters.
    handler: { standardHostname: false },
  })
    .use(requestSpans(deps.tracer))
    .use(
      requestHooks({
        ...deps,
        bodyBudget: bodyBudget(deps.bodyLimits),
        routes: routeTable(routes),
        unavailableError: (path) => registry.unavailableError(path),
      }),
    );
  return mount(app, routes);
}

/** The routes of the core, in the order of the OpenAPI document. */
function coreRoutes(deps: AppDeps): readonly Route[] {
  const { clock, metrics, phase, registry } = deps;
  return [
    ...healthRoutes(() => ({
      phase: phase(),
      plugins: registry.readiness(),
      models: registry.modelReadiness(),
      storage: storageReports(deps.storage),
      requiredModels: deps.requiredModels,
    })),
    ...consoleRoutes(deps.consoleFolder),
    ...docsRoutes(),
    ...modelRoutes(deps.models, deps.startedAt, {
      reports: () => registry.modelReadiness(),
      load: (id) => registry.loadModel(id),
    }),
    ...pluginRoutes(deps.plugins),
    ...organizationRoutes(),
    ...keyRoutes(deps.keys),
    ...usageRoutes(deps.usage),
    ...usageSummaryRoutes(deps.usage, clock),
    ...creditRoutes(deps.credits, deps.isFree),
    ...(deps.showMetrics ? metricsRoutes(metrics, clock) : []),
    ...(deps.securityContact === undefined ? [] : securityTxtRoutes(deps.securityContact, clock)),
  ];
}
