import { Elysia, t } from 'elysia';
import type { ReadyReport } from '../contract/engine.ts';

export interface HealthParts {
  readonly readiness: () => ReadonlyMap<string, ReadyReport>;
  readonly draining: () => boolean;
}

const PluginState = t.Object({ ready: t.Boolean(), detail: t.Optional(t.String()) });
const Readiness = t.Object({
  status: t.String({ description: 'ready, starting or stopping', examples: ['ready'] }),
  plugins: t.Record(t.String(), PluginState),
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
        const ready = !draining() && [...states.values()].every((state) => state.ready);
        if (!ready) set.status = 503;
        return {
          status: draining() ? 'stopping' : ready ? 'ready' : 'starting',
          plugins: Object.fromEntries(states),
        };
      },
      {
        response: { 200: Readiness, 503: Readiness },
        detail: {
          summary: 'Whether every loaded plugin can take work',
          description: 'For a balancer: 503 while it starts or stops. No key is needed.',
          security: [],
        },
      },
    );
}
