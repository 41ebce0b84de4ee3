import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Secret } from '../../contract/core/secret.ts';
import { DEFAULT_HUB_ENDPOINT, type HubSettings } from '../../models/hub-reference.ts';
import { ConfigError } from '../config-error.ts';
import { type Environment, readVariables, textOf, textVariable } from '../variable.ts';

export const MODEL_VARIABLES = {
  modelsDir: textVariable('MODELS_DIR', {
    fallback: '`voice-service/models` in the user’s cache folder',
    meaning: 'folder for model files, shared by checkouts',
  }),
  hubEndpoint: textVariable('HF_ENDPOINT', {
    default: DEFAULT_HUB_ENDPOINT,
    fallback: DEFAULT_HUB_ENDPOINT.replace('https://', ''),
    meaning: '`https://host` of the model hub for weights `hf:…`',
  }),
  hubToken: textVariable('HF_TOKEN', {
    meaning: 'access token of the model hub, for repositories that require one',
  }),
};

/** Where the files of models are, and the server of weights `hf:…`. */
export function modelFileSettings(environment: Environment) {
  const { modelsDir, hubEndpoint, hubToken } = readVariables(MODEL_VARIABLES, environment);
  return {
    modelsDir: resolve(modelsDir ?? join(userCache(environment), 'voice-service', 'models')),
    hub: hubSettings(hubEndpoint, hubToken),
  };
}

/** @throws ConfigError for an invalid server address. */
function hubSettings(endpoint: string, token: string | undefined): HubSettings {
  const { protocol, host, search, username } = URL.parse(endpoint) ?? {};
  if (!(protocol === 'https:' || protocol === 'http:') || !host || search || username) {
    throw new ConfigError('Environment variable HF_ENDPOINT must be https://host or http://host:port.');
  }
  return Object.freeze({
    endpoint: endpoint.replace(/\/+$/, ''),
    token: token === undefined ? undefined : new Secret(token),
  });
}

function userCache(environment: Environment): string {
  return textOf(environment, 'XDG_CACHE_HOME') ?? join(homedir(), '.cache');
}
