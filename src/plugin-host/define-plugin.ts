/** The form in which a plugin is written: its dependencies, settings, documents and setup, in one object. */

import type { AnySection, TablesOf } from '../config/section.ts';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import type { JobHandler, JobQueue } from '../contract/core/jobs.ts';
import type { ReadyReport } from '../contract/engines/engine.ts';
import type { ModelLimits, Slots } from '../contract/plugin.ts';
import type { Route, ServicesOf } from '../contract/route.ts';
import type { RouteTag } from '../http/openapi/document.ts';

/** Settings of the core that every plugin can read. */
export interface SharedSettings {
  readonly dataDir: string;
  readonly limits: {
    /** Maximum size of a request body, in bytes. */
    readonly requestBytes: number;
    /** Maximum length of a synthesized text, in Unicode code points; at most 5000 (spec 8). */
    readonly speechCharacters: number;
    /** Maximum number of concurrent speech requests per organization. */
    readonly speechRequestsPerOrganization: number;
    /** Maximum number of concurrent uploads per organization. */
    readonly uploadsPerOrganization: number;
  };
}

/** Work of a plugin that can be ended: requests, connections. */
export interface Drainable {
  /** Rejects new work and finishes running work until the signal fires. */
  drain(until: AbortSignal): Promise<void>;
  /** Stops the remaining work at the close, if it needs no time. */
  stop?(): void;
  /** Ends the remaining work at the close. Idempotent. */
  close?(): Promise<void>;
}

/** A resource of a plugin, such as an interval. */
export interface Closable {
  /** Idempotent. */
  close(): Promise<void>;
}

/** What the host ends for a plugin: at its drain, at its close, and after a failed setup. */
export interface Lifecycle {
  /** @returns the work. */
  drains<Work extends Drainable>(work: Work): Work;
  /** @returns the resource. */
  closes<Resource extends Closable>(resource: Resource): Resource;
  /** Starts to run jobs of a kind. The drain stops the runner; the close abandons jobs that are still running. */
  runs(jobs: Pick<JobQueue, 'startRunner'>, handler: JobHandler & { abandon(): void }): void;
}

/** The values of the sections of a plugin, and those that all plugins share. */
export type SettingsOf<Sections extends readonly AnySection[]> = SharedSettings & TablesOf<Sections[number]>;

export interface SetupContext<Needs extends keyof Slots, Sections extends readonly AnySection[]> {
  /** The services of `needs`. */
  readonly services: Pick<Slots, Needs>;
  /** The values of `settings` by table, and those that all plugins share. */
  readonly settings: SettingsOf<Sections>;
  readonly lifecycle: Lifecycle;
}

/** A plugin that has been set up. */
export interface PluginParts<Offers extends keyof Slots, RouteServices> {
  /** The services of `offers`. */
  readonly provides?: Pick<Slots, Offers>;
  /** What the handlers of its routes work with. */
  readonly services?: NoInfer<RouteServices>;
  /** Parameter ranges by model id, if they differ between models. Listed by `GET /v1/models`. */
  readonly limits?: ReadonlyMap<string, ModelLimits>;
  /**
   * Whether the plugin can do any work; a plugin that uses models is ready while at least one model is ready. Must be cheap.
   * Absent: always.
   */
  ready?(): ReadyReport;
}

/** Routes, which may depend on settings. */
export type RoutesOf<Sections extends readonly AnySection[], Routes extends Route<never>> =
  | readonly Routes[]
  | ((settings: SettingsOf<Sections>) => readonly Routes[]);

/** A feature of the service. */
export interface PluginDefinition<
  Needs extends keyof Slots,
  Offers extends keyof Slots,
  Sections extends readonly AnySection[],
  Routes extends Route<never>,
> {
  /** Folder name, value of the log field `plugin`, and name in PLUGINS. */
  readonly name: string;
  /** Services that it depends on. They determine the start order. */
  readonly needs: readonly Needs[];
  /** Services that it provides to other plugins. */
  readonly offers?: readonly Offers[];
  /** Its routes. Their paths are known while the plugin is disabled. */
  readonly routes?: RoutesOf<Sections, Routes>;
  readonly settings?: Sections;
  /** Groups of its routes in the OpenAPI document, if no other plugin has them. */
  readonly tags?: readonly RouteTag[];
  /** Labels of the endpoints that it bills, for prices and usage rows. */
  readonly usage?: readonly EndpointLabel[];
  /** Can run several times in one process: a plugin can be disabled and enabled. */
  setup(
    context: SetupContext<Needs, Sections>,
  ): PluginParts<Offers, ServicesOf<Routes>> | Promise<PluginParts<Offers, ServicesOf<Routes>>>;
}

/** Checks the types of a plugin: `setup` receives exactly the services of `needs` and the values of `settings`. */
export function definePlugin<
  const Needs extends keyof Slots,
  const Offers extends keyof Slots = never,
  const Sections extends readonly AnySection[] = readonly [],
  Routes extends Route<never> = Route,
>(
  definition: PluginDefinition<Needs, Offers, Sections, Routes>,
): PluginDefinition<Needs, Offers, Sections, Routes> {
  return definition;
}
