import { Elysia, t } from 'elysia';
import { ErrorSchema } from '../openapi/schemas.ts';
import { requireOperator } from '../security/caller.ts';

/** A plugin of the build and its state. */
export interface PluginStatus {
  readonly name: string;
  /** Desired state; `state` follows it. */
  readonly enabled: boolean;
  readonly state: 'off' | 'starting' | 'on' | 'stopping' | 'failed';
  readonly detail?: string;
  /** False when PLUGINS excludes the plugin from this process, regardless of the desired state. */
  readonly switchable: boolean;
  /** Route patterns as they are mounted. */
  readonly paths: readonly string[];
  /** Names of the plugins that it depends on, and of the plugins that depend on it. */
  readonly needs: readonly string[];
  readonly neededBy: readonly string[];
}

export interface PluginSwitches {
  /** Every plugin of the build. */
  list(): Promise<readonly PluginStatus[]>;
  /**
   * Enables or disables a plugin in every process of the deployment. Resolves when the desired state is stored and this
   * process has started to apply it.
   * @throws ServiceError `not_found` for an unknown name; `conflict`: `plugin_needed` when a dependency between plugins
   *   forbids the change, `plugin_not_loaded` when this process does not load the plugin.
   */
  set(name: string, enabled: boolean): Promise<PluginStatus>;
}

const Plugin = t.Object(
  {
    object: t.Literal('plugin'),
    name: t.String({ examples: ['speech'] }),
    enabled: t.Boolean({ description: 'Desired state; `state` follows it' }),
    state: t.Union(
      [t.Literal('on'), t.Literal('starting'), t.Literal('stopping'), t.Literal('off'), t.Literal('failed')],
      {
        description: 'State in the process that handles the request',
      },
    ),
    detail: t.Optional(t.String({ description: 'Backend of the plugin, or the reason for its state' })),
    switchable: t.Boolean({ description: 'False when the setting PLUGINS excludes it' }),
    routes: t.Array(t.String({ examples: ['/v1/audio/speech'] })),
    needs: t.Array(t.String(), { description: 'Plugins that it depends on' }),
    needed_by: t.Array(t.String(), { description: 'Plugins that depend on it' }),
  },
  { title: 'Plugin' },
);

/** GET /v1/plugins and POST /v1/plugins/{name}: lists plugins, and enables or disables them at runtime. */
export function pluginRoutes(plugins: PluginSwitches) {
  return new Elysia({ name: 'plugins', tags: ['service'] })
    .get(
      '/v1/plugins',
      async () => ({ object: 'list' as const, data: (await plugins.list()).map(wirePlugin) }),
      {
        response: { 200: t.Object({ object: t.Literal('list'), data: t.Array(Plugin) }) },
        detail: {
          summary: 'List plugins',
          description:
            'Returns the states in this process. Other processes apply a change within two seconds.',
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
          summary: 'Enable or disable a plugin',
          description:
            'Applies to every process of the deployment; other processes follow within two seconds. Work in progress ' +
            'finishes, as in a shutdown of the service; new requests get 503 `plugin_stopping`, then 404 ' +
            '`plugin_disabled`. Enabling a failed plugin starts it again. Requires an operator key.',
        },
      },
    );
}

function wirePlugin({ name, enabled, state, detail, switchable, paths, needs, neededBy }: PluginStatus) {
  return {
    object: 'plugin' as const,
    name,
    enabled,
    state,
    ...(detail !== undefined && { detail }),
    switchable,
    // In OpenAPI notation.
    routes: paths.map((path) => path.replace(/:(\w+)/g, '{$1}')),
    needs: [...needs],
    needed_by: [...neededBy],
  };
}
