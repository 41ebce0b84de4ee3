import { type AnyElysia, Elysia } from 'elysia';
import type { CreditStore } from './contract/accounts/accounts-store.ts';
import type { ApiKeyStore } from './contract/accounts/api-key.ts';
import type { RequestLimits } from './contract/accounts/limits.ts';
import type { UsageReader } from './contract/accounts/usage.ts';
import type { Clock } from './contract/core/clock.ts';
import type { Logger } from './contract/core/logger.ts';
import type { Tracer } from './contract/core/tracer.ts';
import { openapiRoutes } from './http/openapi/openapi.ts';
import { consoleRoutes } from './http/routes/console.ts';
import { docsRoutes } from './http/routes/docs.ts';
import { healthRoutes } from './http/routes/health.ts';
import { keyRoutes } from './http/routes/keys.ts';
import { metricsRoutes } from './http/routes/metrics.ts';
import { type ListedModel, modelRoutes } from './http/routes/models.ts';
import { organizationRoutes } from './http/routes/organization.ts';
import { type PluginSwitches, pluginRoutes } from './http/routes/plugins.ts';
import { securityTxtRoutes } from './http/routes/security-txt.ts';
import type { ServingPhase } from './http/routes/serving-phase.ts';
import type { OriginRules } from './http/security/cors.ts';
import type { Authenticator } from './http/server/auth.ts';
import { requestHooks } from './http/server/request-hooks.ts';
import { requestSpans } from './http/server/request-spans.ts';
import { type RouteTable, routeTable } from './http/server/route-table.ts';
import type { MetricsRegistry } from './metrics/registry.ts';
import type { Registry } from './plugin-host/registry.ts';
import { creditRoutes } from './usage/credit-routes.ts';
import { usageRoutes } from './usage/usage-routes.ts';
import { usageSummaryRoutes } from './usage/usage-summary-routes.ts';

export interface AppDeps {
  readonly version: string;
  /** Where the built console is. */
  readonly consoleFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly tracer: Tracer;
  /** False when `/metrics` has a port of its own. */
  readonly showMetrics: boolean;
  readonly authenticate: Authenticator;
  readonly origins: OriginRules;
  /** Whom to tell of a weakness; undefined is nobody. */
  readonly securityContact: string | undefined;
  readonly requestLimits: RequestLimits;
  readonly requestBytes: number;
  /** That can be asked for. */
  readonly models: readonly ListedModel[];
  /** When the process started, in Unix seconds. */
  readonly startedAt: number;
  readonly keys: Pick<ApiKeyStore, 'create' | 'listOf' | 'revoke'>;
  readonly usage: UsageReader;
  readonly credits: Pick<CreditStore, 'balance'>;
  /** Whether no call costs credits. */
  readonly isFree: boolean;
  readonly registry: Pick<Registry, 'routes' | 'readiness' | 'modelReadiness' | 'unavailableError'>;
  readonly plugins: PluginSwitches;
  /** Ids of models that must be available for the process to be ready. */
  readonly requiredModels: ReadonlySet<string>;
  readonly phase: () => ServingPhase;
}

/** The whole HTTP surface of the service: the core's routes and those of the plugins that are on now. Never listens. */
export function buildApp(parts: AppDeps): AnyElysia {
  const { clock, log, metrics, authenticate, origins, requestLimits, requestBytes, phase, registry } = parts;
  let table: RouteTable | undefined;
  // Made at the first request that asks, when every route is mounted.
  const routes = () => {
    table ??= routeTable(app.routes);
    return table;
  };
  const app = new Elysia({
    name: 'app',
    // Schemas refuse unknown fields; the framework's default would drop them silently.
    normalize: false,
    // Otherwise the framework finds the path by counting on a host name of four letters or more.
    handler: { standardHostname: false },
  })
    .use(requestSpans(parts.tracer))
    .use(
      requestHooks({
        ...{ clock, log, metrics, authenticate, origins },
        ...{ requestLimits, requestBytes, phase, routes },
        refusal: (path) => registry.unavailableError(path),
      }),
    )
    .use(
      healthRoutes(() => ({
        phase: phase(),
        plugins: registry.readiness(),
        models: registry.modelReadiness(),
        requiredModels: parts.requiredModels,
      })),
    )
    .use(consoleRoutes(parts.consoleFolder))
    .use(docsRoutes())
    .use(openapiRoutes(parts.version))
    .use(modelRoutes(parts.models, parts.startedAt))
    .use(pluginRoutes(parts.plugins))
    .use(organizationRoutes())
    .use(keyRoutes(parts.keys))
    .use(usageRoutes(parts.usage))
    .use(usageSummaryRoutes(parts.usage, clock))
    .use(creditRoutes(parts.credits, parts.isFree));
  if (parts.showMetrics) app.use(metricsRoutes(metrics, clock));
  if (parts.securityContact !== undefined) app.use(securityTxtRoutes(parts.securityContact, clock));
  for (const plugin of registry.routes) app.use(plugin);
  return app;
}
