import { allSections, loadConfig as loadWith } from '../src/config/config.ts';
import type { AnySection } from '../src/config/section.ts';
import { PLUGINS } from './plugins.ts';

export { ConfigError, ENVIRONMENT } from '../src/config/config.ts';

type Feature = NonNullable<(typeof PLUGINS)[number]['settings']>[number];
/** What the plugins add to the configuration. */
const FEATURES = {
  sections: PLUGINS.flatMap(({ settings = [] }): readonly Feature[] => settings),
  usage: PLUGINS.flatMap(({ usage = [] }) => usage),
};

/** All sections of the CONFIG file, in the order of the guide. */
export const SECTIONS: readonly AnySection[] = allSections(FEATURES);

/** All settings, frozen at startup. */
export type Config = ReturnType<typeof loadConfig>;

/**
 * Reads the settings of the core and of all plugins.
 * @param environment default: that of the process.
 * @throws ConfigError for unknown names, wrong types and values out of range.
 */
export function loadConfig(environment?: Readonly<Record<string, string | undefined>>) {
  return loadWith(environment, FEATURES);
}
