import { Elysia, t } from 'elysia';
import { ErrorSchema } from '../openapi/schemas.ts';
import { requireOperator } from '../security/caller.ts';

/** A plugin of the build, and how it is. */
export interface PluginStanding {
  readonly name: string;
  /** What is wished; its state follows. */
  readonly enabled: boolean;
  readonly state: 'off' | 'starting' | 'on' | 'stopping' | 'failed';
  readonly detail?: string;
  /** False when the process does not load it, whatever is wished. */
  readonly switchable: boolean;
  /** As they are mounted. */
  readonly paths: readonly string[];
  /** Names of plugins without which it cannot be on, and of those that cannot without it. */
  readonly needs: readonly string[];
  readonly neededBy: readonly string[];
}

export interface PluginSwitches {
  /** Every plugin of the build. */
  list(): Promise<readonly PluginStanding[]>;
  /**
   * Switches a plugin in every process of the deployment, and resolves when that is stored and begun here.
   * @throws ServiceError `not_found` for a name that no plugin has; `conflict`: `plugin_needed` when another plugin
   *   stands against it, `plugin_not_loaded` when this process does not load it.
   */
  set(name: string, enabled: boolean): Promise<PluginStanding>;
}

const Plugin = t.Object(
  {
    object: t.Literal('plugin'),
    name: t.String({ examples: ['speech'] }),
    enabled: t.Boolean({ description: 'Whether it is wished on; `state` follows' }),
    state: t.Union(
      [t.Literal('on'), t.Literal('starting'), t.Literal('stopping'), t.Literal('off'), t.Literal('failed')],
      {
        description: 'How it is in the process that answers',
      },
    ),
    detail: t.Optional(t.String({ description: 'What it runs on, or why it is as it is' })),
    switchable: t.Boolean({ description: 'False when the setting PLUGINS leaves it out' }),
    routes: t.Array(t.String({ examples: ['/v1/audio/speech'] })),
    needs: t.Array(t.String(), { description: 'Plugins without which it cannot be on' }),
    needed_by: t.Array(t.String(), { description: 'Plugins that cannot be on without it' }),
  },
  { title: 'Plugin' },
);

/** GET /v1/plugins and POST /v1/plugins/{name}: what the service can do, and switches for it while it runs. */
export function pluginRoutes(plugins: PluginSwitches) {
  return new Elysia({ name: 'plugins', tags: ['service'] })
    .get(
      '/v1/plugins',
      async () => ({ object: 'list' as const, data: (await plugins.list()).map(wirePlugin) }),
      {
        response: { 200: t.Object({ object: t.Literal('list'), data: t.Array(Plugin) }) },
        detail: {
          summary: 'All plugins and their states',
          description: 'Those of this process; another one that follows a switch may be a moment behind.',
        },
      },
    )
    .post(
      '/v1/plugins/:name',
      async ({ request, params, body }) => {
        requireOperator(request);
        return wirePlugin(await plugins.set(params.name, body.enabled));
      },
      {
        params: t.Object({ name: t.String({ description: 'Name of a plugin.', example: 'speech' }) }),
        body: t.Object(
          { enabled: t.Boolean() },
          { additionalProperties: false, examples: [{ enabled: false }] },
        ),
        response: { 200: Plugin, 403: ErrorSchema, 404: ErrorSchema, 409: ErrorSchema },
        detail: {
          summary: 'Switch a plugin on or off',
          description:
            'For every process of the deployment, until it is switched again. Other processes follow within two ' +
            'seconds. Work that runs is finished, as at a stop of the service; new requests get 503 `plugin_stopping`, then ' +
            '404 `plugin_disabled`. Asked again, a plugin that failed is tried again. Operators only.',
        },
      },
    );
}

function wirePlugin({ name, enabled, state, detail, switchable, paths, needs, neededBy }: PluginStanding) {
  return {
    ...{ object: 'plugin' as const, name, enabled, state, ...(detail !== undefined && { detail }) },
    switchable,
    // As OpenAPI writes them.
    routes: paths.map((path) => path.replace(/:(\w+)/g, '{$1}')),
    needs: [...needs],
    needed_by: [...neededBy],
  };
}
