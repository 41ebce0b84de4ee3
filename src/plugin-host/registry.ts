import type { AnyElysia } from 'elysia';
import { ServiceError } from '../contract/core/error.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { UpDownCounter, Metrics } from '../contract/core/metrics.ts';
import type { ReadyReport } from '../contract/engines/engine.ts';
import type { ModelTable } from '../contract/model-table.ts';
import type { PluginInstance, ServiceProvider, Slots } from '../contract/plugin.ts';
import type { PluginDesiredState, PluginDesiredStates } from '../contract/stores/plugin-switch-store.ts';
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

/** Any feature plugin, whatever it needs and offers. */
export interface AnyPlugin extends PluginNode {
  readonly paths: readonly string[];
  setup(slots: Slots): Promise<AnyInstance>;
}

type AnyInstance = Omit<PluginInstance, 'provides'> & { readonly provides: Partial<Slots> };

/** Where a plugin stands, for people. */
export interface PluginReport {
  readonly state: PluginState;
  readonly detail?: string;
}

/** The plugins of a process, those that are off too. */
export interface Registry {
  /** Of the plugins that are on. */
  readonly routes: readonly AnyElysia[];
  /** The models that a plugin which is on needs, by their ids. */
  readonly models: ReadonlyMap<string, ListedModel>;
  /** In start order. */
  readonly plugins: readonly AnyPlugin[];
  /** @throws Error for a name that no plugin has. */
  report(name: string): PluginReport;
  /** Of each plugin, for `/readyz`. What is off on purpose is left out. */
  readiness(): ReadonlyMap<string, PluginReadiness>;
  /** Of each model in `models`, by its id, for `/readyz`. */
  modelReadiness(): ReadonlyMap<string, ModelReadiness>;
  /** Why the routes at a path are not there: the plugin that has them is not on. Undefined for all other paths. */
  unavailableError(path: string): ServiceError | undefined;
  /**
   * Switches plugins as wished, without waiting for it: one ends its work within the grace time, and is closed with
   * whatever nobody needs any more; one starts when what it needs is open, while the others serve on. Of two wishes of
   * a plugin the later revision counts, whenever it comes.
   */
  applyDesiredStates(wishes: PluginDesiredStates): void;
  /** Drains all plugins at once; resolves when all are done or the signal fires. Begins no moves any more. Never rejects. */
  drain(until: AbortSignal): Promise<void>;
  /** Closes plugins in reverse order of start, then the parts. Idempotent; never rejects, failures are logged. */
  close(): Promise<void>;
}

export interface RegistryOptions {
  readonly plugins: readonly AnyPlugin[];
  /** What is always there. */
  readonly core: Partial<Slots>;
  /** What is there while a plugin needs it; the registry closes it. */
  readonly services: ServiceProvider;
  readonly desiredStates: PluginDesiredStates;
  /** Time for the work of a plugin that is switched off. */
  readonly graceMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called after the start whenever other plugins are on than before: routes and models are others. */
  readonly onChange: () => void;
}

/**
 * Starts the plugins that are wished on in dependency order, each with the slots it asked for and a log of its own.
 * When one fails, those already started are closed before the failure is thrown.
 */
export async function startPlugins(parts: RegistryOptions): Promise<Registry> {
  const registry = new Plugins(parts);
  try {
    await registry.start();
    return registry;
  } catch (error) {
    await registry.close();
    throw error;
  }
}

const NEVER_SWITCHED: PluginDesiredState = { enabled: true, revision: 0, changedAt: 0 };
const RETRY_AFTER_S = 2;
const MODEL_SLOTS = [
  ['tts', 'speech'],
  ['stt', 'transcription'],
  ['text', 'chat'],
  ['embed', 'embeddings'],
  ['video', 'video'],
] as const;

/** A plugin and what there is of it. */
interface Entry {
  readonly plugin: AnyPlugin;
  readonly routes: RouteTable;
  state: PluginState;
  instance: AnyInstance | undefined;
  /** What it shows of itself while it is there. */
  metrics: ScopedMetrics | undefined;
  /** The end of the instance, once it has begun. */
  closing: Promise<void> | undefined;
  /** Of the wish that was followed last. */
  revision: number;
}

class Plugins implements Registry {
  readonly plugins: readonly AnyPlugin[];
  readonly #given: RegistryOptions;
  /** In start order. */
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #wishes: Map<string, PluginDesiredState>;
  readonly #states: UpDownCounter;
  /** Plugins for which parts are open. */
  readonly #holders = new Set<Entry>();
  /** Fires when there is no more time for work that runs. */
  readonly #ending = new AbortController();
  /** Moves that have begun and not ended. */
  readonly #moves = new Set<Promise<void>>();
  readonly #drains = new Set<Promise<void>>();
  #provided: Partial<Slots> = {};
  /** The last change of the parts: they change one after the other. */
  #providing: Promise<void> = Promise.resolve();
  #hasStarted = false;
  #isEnding = false;
  #closing: Promise<void> | undefined;

  constructor(given: RegistryOptions) {
    const { plugins, core, services: parts, desiredStates: wishes, metrics } = given;
    this.#given = given;
    this.plugins = startOrder(plugins, new Set([...(Object.keys(core) as SlotName[]), ...parts.slotNames]));
    this.#entries = new Map(this.plugins.map((plugin) => [plugin.name, entryOf(plugin)]));
    this.#wishes = new Map(wishes);
    this.#states = metrics.upDownCounter('plugin_state', '1 for the state that a plugin is in, 0 for the others.', [
      'plugin',
      'state',
    ]);
    for (const { name: plugin } of plugins) {
      for (const state of PLUGIN_STATES) this.#states.add({ plugin, state }, state === 'off' ? 1 : 0);
    }
  }

  /** @throws what a part or a plugin throws. */
  async start(): Promise<void> {
    const wanted = enabledPlugins(this.plugins, this.#wishes);
    const entries = [...this.#entries.values()].filter(({ plugin }) => wanted.has(plugin.name));
    // At once, so that models are loaded once.
    for (const entry of entries) this.#holders.add(entry);
    this.#provided = await this.#given.services.provide(needsOf(this.#holders));
    for (const entry of entries) {
      this.#after(entry, 'start');
      await this.#setUp(entry);
      this.#after(entry, 'started');
    }
    this.#hasStarted = true;
  }

  get routes(): readonly AnyElysia[] {
    return this.#on().flatMap(({ instance }) => instance.routes ?? []);
  }

  get models(): ReadonlyMap<string, ListedModel> {
    const limits = new Map(this.#on().flatMap(({ instance }) => [...(instance.limits ?? [])]));
    const listed = this.#modelTables().flatMap(({ task, table }) =>
      table.ids.map((id) => [id, { id, task, limits: limits.get(id) }] as const),
    );
    return new Map(listed);
  }

  report(name: string): PluginReport {
    const { plugin, state, instance } = this.#entry(name);
    const detail = this.#detail(plugin, state, instance);
    return detail === undefined ? { state } : { state, detail };
  }

  readiness(): ReadonlyMap<string, PluginReadiness> {
    const there = [...this.#entries.values()].filter(({ state }) => state !== 'off');
    return new Map(there.map((entry) => [entry.plugin.name, this.#readiness(entry)]));
  }

  modelReadiness(): ReadonlyMap<string, ModelReadiness> {
    const reports = this.#modelTables().flatMap(({ task, table }) =>
      table.ids.map((id) => [id, { task, ...readyOf(table.get(id)) }] as const),
    );
    return new Map(reports);
  }

  unavailableError(path: string): ServiceError | undefined {
    for (const { plugin, state, routes } of this.#entries.values()) {
      if (state !== 'on' && routes.methodsOf(path).length > 0) return refusalOf(plugin.name, state);
    }
    return undefined;
  }

  applyDesiredStates(wishes: PluginDesiredStates): void {
    for (const [name, wish] of wishes) {
      if (wish.revision > (this.#wishes.get(name)?.revision ?? 0)) this.#wishes.set(name, wish);
    }
    this.#advance();
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
      await this.#given.services.close();
    } catch (error) {
      this.#given.log.error('what plugins need could not be closed', error);
    }
    await Promise.all(this.#moves);
  }

  /** Begins whatever may be. */
  #advance(): void {
    if (this.#isEnding) return;
    const wanted = enabledPlugins(this.plugins, this.#wishes);
    const moves = availableMoves(this.plugins, (name) => {
      const { state, revision } = this.#entry(name);
      return { state, shouldRun: wanted.has(name), retryRequested: this.#wish(name).revision > revision };
    });
    for (const { name, move } of moves) {
      const moving = this.#move(this.#entry(name), move).finally(() => {
        this.#moves.delete(moving);
        this.#advance();
      });
      this.#moves.add(moving);
    }
  }

  async #move(entry: Entry, move: PluginMove): Promise<void> {
    entry.revision = this.#wish(entry.plugin.name).revision;
    this.#after(entry, move);
    if (move === 'start') await this.#start(entry);
    if (move === 'stop') await this.#stop(entry);
  }

  async #start(entry: Entry): Promise<void> {
    const { log } = this.#given;
    const plugin = entry.plugin.name;
    log.info('plugin starts', { plugin });
    try {
      await this.#hold(entry);
      await this.#setUp(entry);
      this.#after(entry, 'started');
      log.info('plugin started', { plugin });
    } catch (error) {
      if (!this.#isEnding) log.error('plugin failed to start', error, { plugin });
      await this.#closeInstance(entry);
      await this.#letGo(entry);
      this.#after(entry, 'failed');
    }
  }

  async #stop(entry: Entry): Promise<void> {
    const { log, graceMs } = this.#given;
    const plugin = entry.plugin.name;
    log.info('plugin stops', { plugin, graceMs });
    await this.#drain(entry, AbortSignal.any([AbortSignal.timeout(graceMs), this.#ending.signal]));
    await this.#closeInstance(entry);
    await this.#letGo(entry);
    this.#after(entry, 'stopped');
    // What it had lies in the heap until somebody allocates much, which may be never: 25 ms now for some 50 MB.
    Bun.gc(true);
    log.info('plugin stopped', { plugin });
  }

  /** Makes the move of the state, and says so where routes are others then. */
  #after(entry: Entry, event: PluginEvent): void {
    const before = entry.state;
    entry.state = stateAfter(before, event);
    const plugin = entry.plugin.name;
    this.#states.add({ plugin, state: before }, -1);
    this.#states.add({ plugin, state: entry.state }, 1);
    const isOther = (before === 'on') !== (entry.state === 'on');
    if (isOther && this.#hasStarted && !this.#isEnding) this.#given.onChange();
  }

  /** Opens what a plugin needs. @throws what cannot be opened; what others need is not touched by that. */
  async #hold(entry: Entry): Promise<void> {
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

  /** Closes what nobody but this plugin needed. Never rejects. */
  async #letGo(entry: Entry): Promise<void> {
    if (!this.#holders.delete(entry) || this.#isEnding) return;
    try {
      await this.#provide((provide) => provide(this.#holders));
    } catch (error) {
      const plugin = entry.plugin.name;
      if (!this.#isEnding)
        this.#given.log.error('what a plugin needed could not be closed', error, { plugin });
    }
  }

  /** Changes the parts, when earlier changes have ended. */
  #provide(
    change: (provide: (holders: ReadonlySet<Entry>) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const provide = async (holders: ReadonlySet<Entry>) => {
      this.#provided = await this.#given.services.provide(needsOf(holders));
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
    requirePaths(plugin, instance);
    // The process has been told to end meanwhile, and closes what is there already.
    if (this.#isEnding) throw new Error('the process ends');
  }

  /** Only what the plugin asked for, so that a need it forgot to name shows at once. */
  #slotsFor(entry: Entry): Slots {
    const { name, needs } = entry.plugin;
    entry.metrics = scopedMetrics(this.#given.metrics);
    const own: Partial<Slots> = { log: this.#given.log.child({ plugin: name }), metrics: entry.metrics };
    const offers = this.#on().map(({ instance }) => instance.provides);
    const slots: Partial<Slots> = Object.assign({}, this.#given.core, this.#provided, ...offers, own);
    const entries = needs.map((need) => [need, slots[need]]);
    return Object.fromEntries(entries) as Slots;
  }

  /** Resolves when its work has ended or the signal fires. Never rejects. */
  async #drain({ plugin, instance }: Entry, until: AbortSignal): Promise<void> {
    const drain = async () => {
      try {
        await instance?.drain(until);
      } catch (error) {
        this.#given.log.error('plugin failed to drain', error, { plugin: plugin.name });
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
      this.#given.log.error('plugin failed to close', error, { plugin: plugin.name });
    });
    return entry.closing;
  }

  #readiness({ plugin, state, instance }: Entry): PluginReadiness {
    if (state === 'on' && instance !== undefined) return { state, ...readyOf(instance) };
    const detail = this.#detail(plugin, state, instance);
    return { state, ready: false, ...(detail !== undefined && { detail }) };
  }

  /** Models that a plugin which is on needs, by task. */
  #modelTables(): readonly { readonly task: ListedModel['task']; readonly table: ModelTable<Reporting> }[] {
    const needs = needsOf(this.#on());
    const slots = { ...this.#given.core, ...this.#provided };
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

  #wish(name: string): PluginDesiredState {
    return this.#wishes.get(name) ?? NEVER_SWITCHED;
  }

  #detail(plugin: AnyPlugin, state: PluginState, instance: AnyInstance | undefined): string | undefined {
    if (state === 'on' && instance !== undefined) return readyOf(instance).detail;
    if (state === 'failed') return 'it could not be started; the log says why';
    if (state !== 'off' || !isEnabled(this.#wishes, plugin.name)) return undefined;
    const missing = providersOf(this.plugins, plugin).find(({ name }) => this.#entry(name).state !== 'on');
    return missing && `it needs '${missing.name}', which is not on`;
  }
}

function entryOf(plugin: AnyPlugin): Entry {
  const routes = routeTable(plugin.paths.map((path) => ({ method: 'any', path })));
  const nothing = { instance: undefined, metrics: undefined, closing: undefined };
  return { plugin, routes, state: 'off', revision: 0, ...nothing };
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

/** What is told of a plugin while it is off must be what it is while it is on. */
function requirePaths({ name, paths }: AnyPlugin, { routes }: AnyInstance): void {
  const mounted = new Set<string>((routes?.routes ?? []).map(({ path }) => path));
  const [other] = mounted.symmetricDifference(new Set(paths));
  if (other === undefined) return;
  const fault = mounted.has(other)
    ? 'has a route that its paths leave out'
    : 'names a path that it has no route at';
  throw new RegistryError(`Plugin '${name}' ${fault}: ${other}`);
}

function refusalOf(name: string, state: PluginState): ServiceError {
  const wait = { retryAfterS: RETRY_AFTER_S };
  switch (state) {
    case 'starting':
      return new ServiceError('overloaded', `The plugin '${name}' is starting. Send the request again.`, {
        code: 'plugin_starting',
        ...wait,
      });
    case 'stopping':
      return new ServiceError('overloaded', `The plugin '${name}' is being switched off.`, {
        code: 'plugin_stopping',
        ...wait,
      });
    case 'failed':
      return new ServiceError('overloaded', `The plugin '${name}' could not be started.`, {
        code: 'plugin_failed',
        ...wait,
      });
    default:
      return new ServiceError('not_found', `The plugin '${name}' is switched off here.`, {
        code: 'plugin_disabled',
      });
  }
}

type Reporting = Pick<AnyInstance, 'ready'>;

/** A plugin or model whose report throws is not ready; the others still report. */
function readyOf(reporting: Reporting | undefined): ReadyReport {
  try {
    return reporting?.ready() ?? { ready: false };
  } catch {
    return { ready: false, detail: 'its state could not be read' };
  }
}
