import { Secret } from '../../contract/core/secret.ts';
import type { TracingSettings } from '../../contract/core/settings.ts';
import { ConfigError } from '../config-error.ts';
import { type Environment, readVariables, shareVariable, textVariable } from '../variable.ts';

export const TRACING_VARIABLES = {
  endpoint: textVariable('OTEL_EXPORTER_OTLP_ENDPOINT', {
    meaning:
      '`http://host:4318` of an OpenTelemetry collector that receives traces as OTLP over HTTP; tracing is off without it',
  }),
  headers: textVariable('OTEL_EXPORTER_OTLP_HEADERS', {
    meaning: '`name=value,name2=value2`: additional headers for the collector, percent-encoded',
  }),
  serviceName: textVariable('OTEL_SERVICE_NAME', {
    default: 'voice-service',
    meaning: 'service name in traces',
  }),
  ratio: shareVariable('OTEL_TRACES_SAMPLER_ARG', { default: 1, meaning: 'trace sampling ratio, 0 to 1' }),
};

/** Undefined without a collector. */
export function tracingSettings(environment: Environment): TracingSettings | undefined {
  // Without a collector, the other variables are not checked.
  const endpoint = TRACING_VARIABLES.endpoint.read(environment);
  if (endpoint === undefined) return undefined;
  const { protocol, username, search, hash, href } = URL.parse(endpoint) ?? {};
  if (!(protocol === 'http:' || protocol === 'https:') || username || search || hash || href === undefined) {
    throw new ConfigError(
      'Environment variable OTEL_EXPORTER_OTLP_ENDPOINT must be http://host:port or https://host, optionally with a path.',
    );
  }
  const { headers, serviceName, ratio } = readVariables(TRACING_VARIABLES, environment);
  return Object.freeze({
    url: `${href.replace(/\/+$/, '')}/v1/traces`,
    headers: tracingHeaders(headers),
    serviceName,
    ratio,
  });
}

/** @throws ConfigError for an invalid header list; values are not shown, because they can be keys. */
function tracingHeaders(text: string | undefined): ReadonlyMap<string, Secret> {
  const headers = new Map<string, Secret>();
  for (const [index, item] of (text?.split(',') ?? []).entries()) {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(item) ?? [];
    try {
      if (name === undefined || value === undefined) throw new URIError();
      headers.set(name.toLowerCase(), new Secret(decodeURIComponent(value)));
    } catch {
      throw new ConfigError(
        `Environment variable OTEL_EXPORTER_OTLP_HEADERS, entry ${index + 1}: must be name=value, percent-encoded.`,
      );
    }
  }
  return headers;
}
