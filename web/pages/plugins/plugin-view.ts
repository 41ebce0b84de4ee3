import type { PluginInfo } from '../../client/plugin-states.tsx';

/**
 * Why a plugin does not run, as a sentence. Undefined for a running plugin: its detail describes processes and threads, which
 * do not concern the users of the console.
 */
export function reasonOf({ state, detail }: Pick<PluginInfo, 'state' | 'detail'>): string | undefined {
  if (state === 'on' || detail === undefined) return undefined;
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
}

/**
 * The routes without those that repeat the end of another one, such as `/v1/chat/completions/chat/completions`. They only
 * exist for clients that append the path to a base URL which already contains it.
 */
export function documentedRoutes(routes: readonly string[]): readonly string[] {
  const isRepeated = (route: string) =>
    routes.some(
      (other) =>
        route.length > other.length && route.startsWith(other) && other.endsWith(route.slice(other.length)),
    );
  return routes.filter((route) => !isRepeated(route));
}
