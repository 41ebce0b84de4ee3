import { batchSettings } from '../plugins/batch/settings.ts';
import { partnerSettings } from '../plugins/partner/settings.ts';
import { realtimeSettings } from '../plugins/realtime/settings.ts';
import { responsesSettings } from '../plugins/responses/settings.ts';
import { speechSettings } from '../plugins/speech/settings.ts';
import { videoSettings } from '../plugins/video/settings.ts';
import { voicesSettings } from '../plugins/voices/settings.ts';
import { CORE_SECTIONS, loadConfig as loadWith } from '../src/config/config.ts';

export { ConfigError, ENVIRONMENT } from '../src/config/config.ts';

/** The settings of the plugins. */
const FEATURES = [
  ...speechSettings,
  ...voicesSettings,
  ...realtimeSettings,
  ...partnerSettings,
  ...batchSettings,
  ...responsesSettings,
  ...videoSettings,
];

/** All sections of the CONFIG file, in the order of the guide. */
export const SECTIONS = [...CORE_SECTIONS, ...FEATURES];

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
