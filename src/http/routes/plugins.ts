import { type Static, Type } from '@sinclair/typebox';
import type { Route } from '../../contract/route.ts';
import { checkedResponse } from '../openapi/operation.ts';
import { ANY_ERROR, pathParameter } from '../openapi/route-docs.ts';
import { route, strictBody } from '../route.ts';
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

const Plugin = Type.Object(
  {
    object: Type.Literal('plugin'),
    name: Type.String({ examples: ['speech'] }),
    enabled: Type.Boolean({ description: 'Desired state; `state` follows it' }),
    state: Type.Union(
      [
        Type.Literal('on'),
        Type.Literal('starting'),
        Type.Literal('stopping'),
        Type.Literal('off'),
        Type.Literal('failed'),
      ],
      {
        description: 'State in the process that handles the request',
      },
    ),
    detail: Type.Optional(Type.String({ description: 'Backend of the plugin, or the reason for its state' })),
    switchable: Type.Boolean({ description: 'False when the setting PLUGINS excludes it' }),
    routes: Type.Array(Type.String({ examples: ['/v1/audio/speech'] })),
    needs: Type.Array(Type.String(), { description: 'Plugins that it depends on' }),
    needed_by: Type.Array(Type.String(), { description: 'Plugins that depend on it' }),
  },
  { title: 'Plugin' },
);

const Switch = Type.Object(
  { enabled: Type.Boolean() },
  { additionalProperties: false, examples: [{ enabled: false }] },
);

/** GET /v1/plugins and POST /v1/plugins/{name}: lists plugins, and enables or disables them at runtime. */
export function pluginRoutes(plugins: PluginSwitches): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/plugins',
      summary: 'List plugins',
      description: 'Returns the states in this process. Other processes apply a change within two seconds.',
      tag: 'service',
      responses: {
        200: checkedResponse(Type.Object({ object: Type.Literal('list'), data: Type.Array(Plugin) })),
      },
      handle: async () => ({ object: 'list', data: (await plugins.list()).map(wirePlugin) }),
    }),
    route({
      method: 'POST',
      path: '/v1/plugins/:name',
      summary: 'Enable or disable a plugin',
      description:
        'Applies to every process of the deployment; other processes follow within two seconds. Work in progress ' +
        'finishes, as in a shutdown of the service; new requests get 503 `plugin_stopping`, then 404 ' +
        '`plugin_disabled`. Enabling a failed plugin starts it again. Requires an operator key.',
      tag: 'service',
      pathParameters: [pathParameter('name', 'Name of a plugin.', 'speech')],
      body: strictBody<Static<typeof Switch>>(Switch),
      responses: { 200: checkedResponse(Plugin), 403: ANY_ERROR, 404: ANY_ERROR, 409: ANY_ERROR },
      async handle({ request, params, body }) {
        requireOperator(request);
        return wirePlugin(await plugins.set(params.name, body.enabled));
      },
    }),
  ];
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
