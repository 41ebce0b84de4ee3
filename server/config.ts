import { allSections, extraPlugins, loadConfig as loadWith } from '../src/config/config.ts';
import type { AnySection } from '../src/config/section.ts';
import type { Environment } from '../src/config/variable.ts';
import type { AnyDefinition } from '../src/plugin-host/configure.ts';
import { loadExtraPlugins } from './extra-plugins.ts';
import { PLUGINS } from './plugins.ts';

export { ConfigError, ENVIRONMENT } from '../src/config/config.ts';

type Feature = NonNullable<(typeof PLUGINS)[number]['settings']>[number];
/** What the plugins of this build add to the configuration. */
const FEATURES = {
  sections: PLUGINS.flatMap(({ settings = [] }): readonly Feature[] => settings),
  usage: PLUGINS.flatMap(({ usage = [] }) => usage),
};

/** All sections of the CONFIG file, in the order of the guide. */
export const SECTIONS: readonly AnySection[] = allSections(FEATURES);

/** All settings, frozen at startup. */
export type Config = ReturnType<typeof loadConfig>;

/**
 * Reads the settings of the core and of the plugins of this build. Those of other authors are not loaded; for tests and tools.
 * @param environment default: that of the process.
 * @throws ConfigError for unknown names, wrong types and values out of range.
 */
export function loadConfig(environment?: Environment) {
  return loadWith(environment, FEATURES);
}

/**
 * Loads the plugins of other authors, and reads all settings.
 * @param environment default: that of the process.
 * @throws StartError for a plugin that cannot be loaded; ConfigError as {@link loadConfig}.
 */
export async function loadConfigAndPlugins(
  environment?: Environment,
): Promise<{ readonly config: Config; readonly extra: readonly AnyDefinition[] }> {
  const taken = PLUGINS.map(({ name }) => name);
  const extra = await loadExtraPlugins(extraPlugins(environment), taken);
  const config = loadWith(environment, {
    sections: FEATURES.sections,
    usage: [...FEATURES.usage, ...extra.flatMap(({ usage = [] }) => usage)],
    extra: extra.flatMap(({ settings = [] }) => settings),
  });
  return { config, extra };
}
