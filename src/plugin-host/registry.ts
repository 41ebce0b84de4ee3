import { ServiceError } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Metrics, UpDownCounter } from '../contract/core/metrics.ts';
import type { Loadable, ReadyReport } from '../contract/engines/engine.ts';
import type { ModelTable } from '../contract/model-table.ts';
import type { PluginInstance, ServiceProvider, Slots } from '../contract/plugin.ts';
import type { Route } from '../contract/route.ts';
import type { PluginDesiredState, PluginDesiredStates } from '../contract/stores/plugin-switch-store.ts';
import type { RouteTag } from '../http/openapi/document.ts';
import { bind } from '../http/route.ts';
import type { ListedModel } from '../http/routes/models.ts';
import type { ModelReadiness, PluginReadiness } from '../http/routes/readiness.ts';
import { type RouteTable, routeTable } from '../http/server/route-table.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';
import { type ScopedMetrics, scopedMetrics } from '../kit/logging/scoped-metrics.ts';
import {
  enabledPlugins,
  isEnabled,
  type PluginNode,
  providersOf,
  RegistryError,
  startOrder,
} from './graph.ts';
import {
  availableMoves,
  PLUGIN_STATES,
  type PluginEvent,
  type PluginMove,
  type PluginState,
  stateAfter,
} from './state-machine.ts';

type SlotName = keyof Slots;

/** A feature plugin with any dependencies. */
export interface AnyPlugin extends PluginNode {
  /** Its routes; their handlers get the services of its instance. */
  readonly routes: readonly Route[];
  /** Groups of its routes in the OpenAPI document. */
  readonly tags?: readonly RouteTag[];
  setup(slots: Slots): Promise<AnyInstance>;
}

type AnyInstance = Omit<PluginInstance, 'provides'> & { readonly provides: Partial<Slots> };

/** State of a plugin for the API. */
export interface PluginReport {
  readonly state: PluginState;
  readonly detail?: string;
}

/** The plugins of a process, including disabled ones. */
export interface Registry {
  /** Routes of the running plugins. */
  readonly routes: readonly Route[];
  /** Groups of routes of the plugins, in start order. */
  readonly tags: readonly RouteTag[];
  /** Models that running plugins use, by id. */
  readonly models: ReadonlyMap<string, ListedModel>;
  /** In start order. */
  readonly plugins: readonly AnyPlugin[];
  /** @throws Error for an unknown name. */
  report(name: string): PluginReport;
  /** Readiness of each plugin, for `/readyz`. Disabled plugins are omitted. */
  readiness(): ReadonlyMap<string, PluginReadiness>;
  /** Readiness of each model in `models`, for `/readyz`. */
  modelReadiness(): ReadonlyMap<string, ModelReadiness>;
  /** Starts the load of a model of `models`, see {@link Loadable}. No effect for other ids. */
  loadModel(id: string): void;
  /** Returns the error for a path whose plugin is not running; undefined for other paths. */
  unavailableError(path: string): ServiceError | undefined;
  /**
   * Applies desired states, without waiting for the result. A disabled plugin finishes its work within the
   * grace time and is closed, with the services that only it used. An enabled plugin starts after its
   * services are open. Of two states of a plugin the one with the higher revision applies.
   */
  applyDesiredStates(desiredStates: PluginDesiredStates): void;
  /**
   * Drains all plugins concurrently. Resolves when all are done or the signal fires. No plugin is started or
   * stopped afterwards. Never rejects.
   */
  drain(until: AbortSignal): Promise<void>;
  /**
   * Closes plugins in reverse start order, then the services. Idempotent; never rejects: failures are logged.
   */
  close(): Promise<void>;
}

export interface RegistryOptions {
  readonly plugins: readonly AnyPlugin[];
  /** Services that are always available. */
  readonly core: Partial<Slots>;
  /** Services that are open while a plugin needs them; the registry closes them. */
  readonly services: ServiceProvider;
  readonly desiredStates: PluginDesiredStates;
  /** Time for a plugin to finish its work when it is disabled, in ms. */
  readonly graceMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called after the start whenever the set of running plugins, and so routes and models, has changed. */
  readonly onChange: () => void;
}

/**
 * Starts the enabled plugins in dependency order, each with the services it declared and its own logger. If
 * one fails, those already started are closed before the error is thrown.
 */
export async function startPlugins(options: RegistryOptions): Promise<Registry> {
  const registry = new Plugins(options);
  try {
    await registry.start();
    return registry;
  } catch (error) {
    await registry.close();
    throw error;
  }
}

const DEFAULT_STATE: PluginDesiredState = { enabled: true, revision: 0, changedAt: 0 };
const RETRY_AFTER_S = 2;
const MODEL_SLOTS = [
  ['tts', 'speech'],
  ['stt', 'transcription'],
  ['text', 'chat'],
  ['embed', 'embeddings'],
  ['video', 'video'],
  ['conversations', 'conversation'],
] as const;

/** A plugin and its runtime state. */
interface Entry {
  readonly plugin: AnyPlugin;
  readonly routes: RouteTable<Route>;
  state: PluginState;
  instance: AnyInstance | undefined;
  /** Metrics of the instance. */
  metrics: ScopedMetrics | undefined;
  /** Result of closing the instance, once started. */
  closing: Promise<void> | undefined;
  /** Revision of the desired state that was applied last. */
  revision: number;
}

class Plugins implements Registry {
  readonly plugins: readonly AnyPlugin[];
  readonly #options: RegistryOptions;
  /** In start order. */
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #desiredStates: Map<string, PluginDesiredState>;
  readonly #states: UpDownCounter;
  /** Plugins whose services are open. */
  readonly #holders = new Set<Entry>();
  /** Fires when the time for running work is over. */
  readonly #ending = new AbortController();
  /** Moves in progress. */
  readonly #moves = new Set<Promise<void>>();
  readonly #drains = new Set<Promise<void>>();
  #provided: Partial<Slots> = {};
  /** Last change of the open services; changes are serialized. */
  #providing: Promise<void> = Promise.resolve();
  #hasStarted = false;
  #isEnding = false;
  #closing: Promise<void> | undefined;

  constructor(options: RegistryOptions) {
    const { plugins, core, services, desiredStates, metrics } = options;
    this.#options = options;
    this.plugins = startOrder(
      plugins,
      new Set([...(Object.keys(core) as SlotName[]), ...services.slotNames]),
    );
    this.#entries = new Map(this.plugins.map((plugin) => [plugin.name, entryOf(plugin)]));
    // Also those of plugins that are disabled: a route must not have two owners once they are enabled.
    routeTable(plugins.flatMap(({ routes }) => routes));
    this.#desiredStates = new Map(desiredStates);
    this.#states = metrics.upDownCounter(
      'plugin_state',
      '1 for the current state of a plugin, 0 for the other states.',
      ['plugin', 'state'],
    );
    for (const { name: plugin } of plugins) {
      for (const state of PLUGIN_STATES) this.#states.add({ plugin, state }, state === 'off' ? 1 : 0);
    }
  }

  /** @throws errors of services and plugins. */
  async start(): Promise<void> {
    const toRun = enabledPlugins(this.plugins, this.#desiredStates);
    const entries = [...this.#entries.values()].filter(({ plugin }) => toRun.has(plugin.name));
    // All together, so that models are loaded only once.
    for (const entry of entries) this.#holders.add(entry);
    this.#provided = await this.#options.services.provide(needsOf(this.#holders));
    for (const entry of entries) {
      this.#applyEvent(entry, 'start');
      await this.#setUp(entry);
      this.#applyEvent(entry, 'started');
    }
    this.#hasStarted = true;
  }

  get routes(): readonly Route[] {
    return this.#on().flatMap(({ plugin, instance }) => bind(plugin.routes, instance.services));
  }

  get tags(): readonly RouteTag[] {
    return this.plugins.flatMap(({ tags = [] }) => tags);
  }

  get models(): ReadonlyMap<string, ListedModel> {
    const { tts } = { ...this.#options.core, ...this.#provided };
    const limits = new Map(this.#on().flatMap(({ instance }) => [...(instance.limits ?? [])]));
    const listed = this.#modelTables().flatMap(({ task, table }) =>
      table.ids.map((id) => {
        const languages = task === 'speech' ? tts?.get(id)?.languages : undefined;
        return [id, { id, task, limits: limits.get(id), languages }] as const;
      }),
    );
    return new Map(listed);
  }

  report(name: string): PluginReport {
    const { plugin, state, instance } = this.#entry(name);
    const detail = this.#detail(plugin, state, instance);
    return detail === undefined ? { state } : { state, detail };
  }

  readiness(): ReadonlyMap<string, PluginReadiness> {
    const active = [...this.#entries.values()].filter(({ state }) => state !== 'off');
    return new Map(active.map((entry) => [entry.plugin.name, this.#readiness(entry)]));
  }

  modelReadiness(): ReadonlyMap<string, ModelReadiness> {
    const reports = this.#modelTables().flatMap(({ task, table }) =>
      table.ids.map((id) => [id, { task, ...readyOf(table.get(id)) }] as const),
    );
    return new Map(reports);
  }

  loadModel(id: string): void {
    for (const { table } of this.#modelTables()) table.get(id)?.load?.();
  }

  unavailableError(path: string): ServiceError | undefined {
    for (const { plugin, state, routes } of this.#entries.values()) {
      if (state !== 'on' && routes.at(path).length > 0) return notRunningError(plugin.name, state);
    }
    return undefined;
  }

  applyDesiredStates(desiredStates: PluginDesiredStates): void {
    for (const [name, desired] of desiredStates) {
      if (desired.revision > (this.#desiredStates.get(name)?.revision ?? 0))
        this.#desiredStates.set(name, desired);
    }
    this.#startMoves();
  }

  async drain(until: AbortSignal): Promise<void> {
    this.#isEnding = true;
    const end = () => this.#ending.abort();
    if (until.aborted) end();
    until.addEventListener('abort', end, { once: true });
    for (const entry of this.#on()) void this.#drain(entry, until);
    await Promise.race([Promise.all(this.#drains), waitForAbort(until)]);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isEnding = true;
    this.#ending.abort();
    for (const entry of [...this.#entries.values()].reverse()) await this.#closeInstance(entry);
    try {
      await this.#options.services.close();
    } catch (error) {
      this.#options.log.error('services of plugins could not be closed', error);
    }
    await Promise.all(this.#moves);
  }

  /** Starts all possible moves. */
  #startMoves(): void {
    if (this.#isEnding) return;
    const toRun = enabledPlugins(this.plugins, this.#desiredStates);
    const moves = availableMoves(this.plugins, (name) => {
      const { state, revision } = this.#entry(name);
      return {
        state,
        shouldRun: toRun.has(name),
        retryRequested: this.#desiredState(name).revision > revision,
      };
    });
    for (const { name, move } of moves) {
      const moving = this.#move(this.#entry(name), move).finally(() => {
        this.#moves.delete(moving);
        this.#startMoves();
      });
      this.#moves.add(moving);
    }
  }

  async #move(entry: Entry, move: PluginMove): Promise<void> {
    entry.revision = this.#desiredState(entry.plugin.name).revision;
    this.#applyEvent(entry, move);
    if (move === 'start') await this.#start(entry);
    if (move === 'stop') await this.#stop(entry);
  }

  async #start(entry: Entry): Promise<void> {
    const { log } = this.#options;
    const plugin = entry.plugin.name;
    log.info('plugin starting', { plugin });
    try {
      await this.#openServices(entry);
      await this.#setUp(entry);
      this.#applyEvent(entry, 'started');
      log.info('plugin started', { plugin });
    } catch (error) {
      if (!this.#isEnding) log.error('plugin failed to start', error, { plugin });
      await this.#closeInstance(entry);
      await this.#closeServices(entry);
      this.#applyEvent(entry, 'failed');
    }
  }

  async #stop(entry: Entry): Promise<void> {
    const { log, graceMs } = this.#options;
    const plugin = entry.plugin.name;
    log.info('plugin stopping', { plugin, graceMs });
    await this.#drain(entry, AbortSignal.any([AbortSignal.timeout(graceMs), this.#ending.signal]));
    await this.#closeInstance(entry);
    await this.#closeServices(entry);
    this.#applyEvent(entry, 'stopped');
    // Runs a garbage collection, because the memory of the instance (some 50 MB) is otherwise not released
    // until the next large allocation. Takes 25 ms.
    Bun.gc(true);
    log.info('plugin stopped', { plugin });
  }

  /** Applies an event to the state, and reports a changed set of running plugins. */
  #applyEvent(entry: Entry, event: PluginEvent): void {
    const before = entry.state;
    entry.state = stateAfter(before, event);
    const plugin = entry.plugin.name;
    this.#states.add({ plugin, state: before }, -1);
    this.#states.add({ plugin, state: entry.state }, 1);
    const hasChanged = (before === 'on') !== (entry.state === 'on');
    if (hasChanged && this.#hasStarted && !this.#isEnding) this.#options.onChange();
  }

  /**
   * Opens the services that a plugin needs.
   * @throws if a service cannot be opened; services of other plugins are not affected.
   */
  async #openServices(entry: Entry): Promise<void> {
    await this.#provide(async (provide) => {
      try {
        await provide(new Set([...this.#holders, entry]));
        this.#holders.add(entry);
      } catch (error) {
        await provide(this.#holders);
        throw error;
      }
    });
  }

  /** Closes the services that only this plugin needed. Never rejects. */
  async #closeServices(entry: Entry): Promise<void> {
    if (!this.#holders.delete(entry) || this.#isEnding) return;
    try {
      await this.#provide((provide) => provide(this.#holders));
    } catch (error) {
      const plugin = entry.plugin.name;
      if (!this.#isEnding)
        this.#options.log.error('services of a plugin could not be closed', error, { plugin });
    }
  }

  /** Changes the open services, after earlier changes have finished. */
  #provide(
    change: (provide: (holders: ReadonlySet<Entry>) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const provide = async (holders: ReadonlySet<Entry>) => {
      this.#provided = await this.#options.services.provide(needsOf(holders));
    };
    const changed = this.#providing.then(() => change(provide));
    this.#providing = changed.catch(() => undefined);
    return changed;
  }

  async #setUp(entry: Entry): Promise<void> {
    const { plugin } = entry;
    const instance = await plugin.setup(this.#slotsFor(entry));
    entry.instance = instance;
    entry.closing = undefined;
    requireOffers(plugin, instance);
    // The process has started to shut down and closes what is open.
    if (this.#isEnding) throw new Error('the process is shutting down');
  }

  /** Only the declared services, so that an undeclared dependency fails immediately. */
  #slotsFor(entry: Entry): Slots {
    const { name, needs } = entry.plugin;
    entry.metrics = scopedMetrics(this.#options.metrics);
    const own: Partial<Slots> = { log: this.#options.log.child({ plugin: name }), metrics: entry.metrics };
    const offers = this.#on().map(({ instance }) => instance.provides);
    const slots: Partial<Slots> = Object.assign({}, this.#options.core, this.#provided, ...offers, own);
    const entries = needs.map((need) => [need, slots[need]]);
    return Object.fromEntries(entries) as Slots;
  }

  /** Resolves when the plugin is drained or the signal fires. Never rejects. */
  async #drain({ plugin, instance }: Entry, until: AbortSignal): Promise<void> {
    const drain = async () => {
      try {
        await instance?.drain(until);
      } catch (error) {
        this.#options.log.error('plugin failed to drain', error, { plugin: plugin.name });
      }
    };
    const draining = Promise.race([drain(), waitForAbort(until)]);
    this.#drains.add(draining);
    await draining;
    this.#drains.delete(draining);
  }

  /** Never rejects. */
  #closeInstance(entry: Entry): Promise<void> {
    const { plugin, instance, metrics } = entry;
    metrics?.close();
    if (instance === undefined) return entry.closing ?? Promise.resolve();
    entry.instance = undefined;
    entry.closing = instance.close().catch((error: unknown) => {
      this.#options.log.error('plugin failed to close', error, { plugin: plugin.name });
    });
    return entry.closing;
  }

  #readiness({ plugin, state, instance }: Entry): PluginReadiness {
    if (state === 'on' && instance !== undefined) return { state, ...readyOf(instance) };
    const detail = this.#detail(plugin, state, instance);
    return { state, ready: false, ...(detail !== undefined && { detail }) };
  }

  /** Models that running plugins use, by task. */
  #modelTables(): readonly { readonly task: ListedModel['task']; readonly table: ModelTable<Reporting> }[] {
    const needs = needsOf(this.#on());
    const slots = { ...this.#options.core, ...this.#provided };
    return MODEL_SLOTS.flatMap(([slot, task]) => {
      const table = needs.has(slot) ? slots[slot] : undefined;
      return table === undefined ? [] : { task, table };
    });
  }

  #on(): readonly (Entry & { readonly instance: AnyInstance })[] {
    return [...this.#entries.values()].filter(isOn);
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new Error(`no plugin is named '${name}'`);
    return entry;
  }

  #desiredState(name: string): PluginDesiredState {
    return this.#desiredStates.get(name) ?? DEFAULT_STATE;
  }

  #detail(plugin: AnyPlugin, state: PluginState, instance: AnyInstance | undefined): string | undefined {
    if (state === 'on' && instance !== undefined) return readyOf(instance).detail;
    if (state === 'failed') return 'start failed; see the log';
    if (state !== 'off' || !isEnabled(this.#desiredStates, plugin.name)) return undefined;
    const missing = providersOf(this.plugins, plugin).find(({ name }) => this.#entry(name).state !== 'on');
    return missing && `depends on '${missing.name}', which is not running`;
  }
}

function entryOf(plugin: AnyPlugin): Entry {
  const routes = routeTable(plugin.routes);
  const nothing = { instance: undefined, metrics: undefined, closing: undefined };
  return { plugin, routes, state: 'off', revision: 0, ...nothing };
}

/** The paths of a plugin, without duplicates. */
export function pathsOf({ routes }: Pick<AnyPlugin, 'routes'>): readonly string[] {
  return [...new Set(routes.map(({ path }) => path))];
}

function isOn(entry: Entry): entry is Entry & { instance: AnyInstance } {
  return entry.state === 'on' && entry.instance !== undefined;
}

function needsOf(entries: Iterable<Pick<Entry, 'plugin'>>): ReadonlySet<SlotName> {
  return new Set([...entries].flatMap(({ plugin }) => plugin.needs));
}

function requireOffers({ name, offers }: AnyPlugin, { provides }: AnyInstance): void {
  const missing = offers.find((offer) => provides[offer] === undefined);
  if (missing === undefined) return;
  throw new RegistryError(`Plugin '${name}' offers '${missing}' but does not provide it.`);
}

function notRunningError(name: string, state: PluginState): ServiceError {
  const wait = { retryAfterS: RETRY_AFTER_S };
  switch (state) {
    case 'starting':
      return new ServiceError('overloaded', `Plugin '${name}' is starting. Retry the request.`, {
        code: 'plugin_starting',
        ...wait,
      });
    case 'stopping':
      return new ServiceError('overloaded', `Plugin '${name}' is being disabled.`, {
        code: 'plugin_stopping',
        ...wait,
      });
    case 'failed':
      return new ServiceError('overloaded', `Plugin '${name}' failed to start.`, {
        code: 'plugin_failed',
        ...wait,
      });
    default:
      return new ServiceError('not_found', `Plugin '${name}' is disabled.`, {
        code: 'plugin_disabled',
      });
  }
}

type Reporting = Pick<AnyInstance, 'ready'> & Loadable;

/** A plugin or model whose report throws is not ready; the others still report. */
function readyOf(reporting: Reporting | undefined): ReadyReport {
  try {
    return reporting?.ready() ?? { ready: false };
  } catch {
    return { ready: false, detail: 'state unavailable' };
  }
}
