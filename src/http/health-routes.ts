import { Elysia, t } from 'elysia';
import type { ReadyReport } from '../contract/engine.ts';
import type { PluginStanding } from './plugin-routes.ts';

/** Whether a plugin can take work now. */
export interface PluginReadiness extends ReadyReport {
  readonly state: PluginStanding['state'];
}

export interface HealthParts {
  readonly readiness: () => ReadonlyMap<string, PluginReadiness>;
  readonly draining: () => boolean;
}

const ReadinessOfPlugin = t.Object({
  state: t.String({ description: 'on, starting, stopping or failed', examples: ['on'] }),
  ready: t.Boolean(),
  detail: t.Optional(t.String()),
});
const Readiness = t.Object({
  status: t.String({ description: 'ready, starting or stopping', examples: ['ready'] }),
  plugins: t.Record(t.String(), ReadinessOfPlugin, {
    description:
      'Those that are not off. One that starts, stops or failed while the process serves leaves the status as it is',
  }),
});

/** `/healthz`: the process serves. `/readyz`: it should be sent work. Neither needs a key. */
export function healthRoutes({ readiness, draining }: HealthParts) {
  return new Elysia({ name: 'health', tags: ['service'] })
    .get('/healthz', () => ({ status: 'ok' }), {
      response: t.Object({ status: t.String({ examples: ['ok'] }) }),
      detail: {
        summary: 'Whether the process serves',
        description: 'For an orchestrator that ends processes which do not. No key is needed.',
        security: [],
      },
    })
    .get(
      '/readyz',
      ({ set }) => {
        const states = readiness();
        // One that is switched, or has failed, is no reason to keep the others from working.
        const ready = !draining() && [...states.values()].every((each) => each.state !== 'on' || each.ready);
        if (!ready) set.status = 503;
        return {
          status: draining() ? 'stopping' : ready ? 'ready' : 'starting',
          plugins: Object.fromEntries(states),
        };
      },
      {
        response: { 200: Readiness, 503: Readiness },
        detail: {
          summary: 'Whether every plugin that is on can take work',
          description: 'For a balancer: 503 while it starts or stops. No key is needed.',
          security: [],
        },
      },
    );
}
