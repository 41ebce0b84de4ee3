/** The OpenAPI document of an app. */

import type { Route } from '../../contract/route.ts';
import { namedSchemas } from './named-schemas.ts';

/** A group of routes in the document. */
export interface RouteTag {
  readonly name: string;
  readonly description: string;
}

const DESCRIPTION =
  'A self-hosted voice-AI back end, compatible with the OpenAI API. [The guide](docs) has examples for curl, TypeScript and Python. To try an endpoint, select “Authorize”, enter your API key as `bearer`, then select “Try it out”; the examples work without changes.';

/** @param tags of the plugins, in the order of the document. Those without a route are omitted. */
export function documentOf(routes: readonly Route[], version: string, tags: readonly RouteTag[]): object {
  const paths: Record<string, Record<string, object>> = {};
  const used = new Set<string>();
  for (const { method, path, operation } of routes) {
    if (operation === undefined) continue;
    const name = path.replace(/:(\w+)/g, '{$1}');
    const operationId = operationIdOf(method, name);
    paths[name] = { ...paths[name], [method.toLowerCase()]: { operationId, ...operation } };
    for (const tag of operation.tags as readonly string[]) used.add(tag);
  }
  const { value, schemas } = namedSchemas(paths);
  return {
    // The schemas use JSON Schema keywords that OpenAPI 3.0 does not support (const, null, examples).
    openapi: '3.1.0',
    info: { title: 'Voice service', version, description: DESCRIPTION },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        partnerSecret: { type: 'apiKey', in: 'header', name: 'x-partner-secret' },
      },
      schemas,
    },
    security: [{ bearer: [] }, { apiKey: [] }, { partnerSecret: [] }],
    tags: [
      // Of several plugins.
      { name: 'audio', description: 'Text to speech, speech to text, and stored voices' },
      ...tags,
      { name: 'models', description: 'Available models' },
      { name: 'usage', description: 'Usage records, daily totals and credits' },
      { name: 'organization', description: 'Your organization and its API keys' },
      { name: 'service', description: 'Plugins, health checks, metrics and pages' },
    ].filter(({ name }) => used.has(name)),
    paths: value,
  };
}

/** The name of an operation for client generators, such as `getV1ModelsByModel`. */
function operationIdOf(method: string, path: string): string {
  const segments = path.split('/').map((segment) => {
    const [, parameter] = /^\{(\w+)\}$/.exec(segment) ?? [];
    return parameter === undefined ? capitalized(segment) : `By${capitalized(parameter)}`;
  });
  return `${method.toLowerCase()}${path === '/' ? 'Index' : segments.join('')}`;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
