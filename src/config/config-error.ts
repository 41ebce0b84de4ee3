import { StartError } from '../contract/core/error.ts';

/** An invalid setting. The message names the setting, its location and the allowed values. */
export class ConfigError extends StartError {
  override readonly name = 'ConfigError';
}
