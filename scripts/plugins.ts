import { build } from '../server/build.ts';
import { loadConfigAndPlugins } from '../server/config.ts';
import { ServiceError, StartError } from '../src/contract/core/error.ts';
import type { PluginSwitchStore } from '../src/contract/stores/plugin-switch-store.ts';
import { systemClock } from '../src/kit/clock.ts';
import { configured } from '../src/plugin-host/configure.ts';
import { type PluginNode, requireSwitchable, selectPlugins } from '../src/plugin-host/graph.ts';
import { openRecords } from '../src/records/open-records.ts';
import { pluginSwitchStore } from '../src/records/stores/plugin-switch-store.ts';

/**
 * `bun run plugins …`: enables and disables plugins in the service's database. Running services apply changes within two
 * seconds, on every machine; how far each is it says at GET /v1/plugins.
 */

const USAGE = `Usage:
  bun run plugins list           every plugin, and whether it is switched on
  bun run plugins disable NAME   switch one off: its work ends, its memory is given back
  bun run plugins enable NAME    switch one on again`;

interface Deps {
  /** Name of the database, for messages. */
  readonly where: string;
  readonly switches: PluginSwitchStore;
  readonly available: readonly PluginNode[];
  /** Plugins that the PLUGINS setting loads. */
  readonly loaded: readonly PluginNode[];
}

/** Invalid arguments, or an operation that is not possible. */
class UsageError extends Error {}

async function run(args: readonly string[]): Promise<void> {
  const action = parse(args);
  const { config, extra } = await loadConfigAndPlugins();
  const available = [...build.plugins(config), ...extra.map((each) => configured(each, config))];
  const loaded = selectPlugins(available, config.plugins);
  const records = await openRecords(config.database);
  try {
    const where = config.database.kind === 'sqlite' ? config.database.path : 'the database of DATABASE_URL';
    await action({ where, switches: pluginSwitchStore(records, systemClock), available, loaded });
  } finally {
    await records.close();
  }
}

/** Parses the arguments before the database is opened. */
function parse([command, ...rest]: readonly string[]): (deps: Deps) => Promise<void> {
  const [name] = rest;
  if (command === 'list' && rest.length === 0) return list;
  if ((command === 'enable' || command === 'disable') && rest.length === 1 && name !== undefined) {
    return (deps) => set(deps, name, command === 'enable');
  }
  throw new UsageError(USAGE);
}

async function list({ switches, available, loaded }: Deps): Promise<void> {
  const settings = await switches.list();
  const longest = Math.max(...available.map(({ name }) => name.length));
  for (const plugin of available) {
    const setting = settings.get(plugin.name);
    const since = setting && `since ${new Date(setting.changedAt * 1000).toISOString().slice(0, 16)}Z`;
    const state = loaded.includes(plugin)
      ? setting?.enabled === false
        ? 'off'
        : 'on'
      : 'left out by PLUGINS';
    console.log([plugin.name.padEnd(longest), state, since].filter(Boolean).join('  '));
  }
}

async function set(deps: Deps, name: string, enabled: boolean): Promise<void> {
  const { where, switches, available, loaded } = deps;
  const plugin = available.find((each) => each.name === name);
  if (plugin === undefined) {
    const names = available.map((each) => each.name).join(', ');
    throw new UsageError(`Unknown plugin '${name}'; allowed: ${names}.`);
  }
  requireSwitchable(loaded, await switches.list(), plugin, enabled);
  await switches.setEnabled(name, enabled);
  console.log(
    `'${name}' is switched ${enabled ? 'on' : 'off'} in ${where}. Services that run on it follow within two seconds; ` +
      'GET /v1/plugins shows how far they are, and so does the console.',
  );
  if (!loaded.includes(plugin)) {
    console.log(`The setting PLUGINS leaves '${name}' out here: where it does, nothing changes.`);
  }
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  const forPeople =
    error instanceof UsageError || error instanceof StartError || error instanceof ServiceError;
  console.error(forPeople ? error.message : error);
  process.exit(1);
}
