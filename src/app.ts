import { type AnyElysia, Elysia } from 'elysia';
import type { CreditStore } from './contract/accounts-store.ts';
import type { ApiKeyStore } from './contract/api-key.ts';
import type { Clock } from './contract/clock.ts';
import type { RequestLimits } from './contract/limits.ts';
import type { Logger } from './contract/logger.ts';
import type { Tracer } from './contract/tracer.ts';
import type { UsageReader } from './contract/usage.ts';
import type { Authenticator } from './http/auth.ts';
import { consoleRoutes } from './http/console-route.ts';
import type { OriginRules } from './http/cors.ts';
import { docsRoutes } from './http/docs-routes.ts';
import { healthRoutes } from './http/health-routes.ts';
import { keyRoutes } from './http/key-routes.ts';
import type { MetricsRegistry } from './http/metrics.ts';
import { metricsRoutes } from './http/metrics-routes.ts';
import { type ListedModel, modelRoutes } from './http/model-routes.ts';
import { openapiRoutes } from './http/openapi.ts';
import { organizationRoutes } from './http/organization-routes.ts';
import { type PluginSwitches, pluginRoutes } from './http/plugin-routes.ts';
import { requestHooks } from './http/request-hooks.ts';
import { requestSpans } from './http/request-spans.ts';
import { type RouteTable, routeTable } from './http/route-table.ts';
import { securityTxtRoutes } from './http/security-txt.ts';
import type { ServingPhase } from './http/serving-phase.ts';
import type { Registry } from './registry.ts';
import { creditRoutes } from './usage/credit-routes.ts';
import { usageRoutes } from './usage/usage-routes.ts';
import { usageSummaryRoutes } from './usage/usage-summary-routes.ts';

export interface AppParts {
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
  readonly registry: Pick<Registry, 'routes' | 'readiness' | 'modelReadiness' | 'refusal'>;
  readonly plugins: PluginSwitches;
  /** Ids of models that must be available for the process to be ready. */
  readonly requiredModels: ReadonlySet<string>;
  readonly phase: () => ServingPhase;
}

/** The whole HTTP surface of the service: the core's routes and those of the plugins that are on now. Never listens. */
export function buildApp(parts: AppParts): AnyElysia {
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
        refusal: (path) => registry.refusal(path),
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
