import { Elysia } from 'elysia';
import { runProcess } from '../../server/process.ts';
import { callerOf } from '../../src/http/security/caller.ts';
import { LazyServices } from '../../src/kit/lifecycle/lazy-services.ts';

/**
 * A build for tests of plugin selection and shutdown. `GET /v1/slow/:pieces` of the plugin `slow` streams the first piece, the
 * others after the signal SIGUSR2, and then closes its call. The plugin `extra` has one route.
 */
const released = Promise.withResolvers<void>();
process.once('SIGUSR2', () => released.resolve());

await runProcess({
  plugins: () => [
    {
      name: 'slow',
      needs: ['log', 'calls'],
      offers: [],
      paths: ['/v1/slow/:pieces'],
      async setup({ log, calls }) {
        let running = 0;
        let idle = Promise.withResolvers<void>();
        const routes = new Elysia({ name: 'slow' }).get('/v1/slow/:pieces', async ({ params, request }) => {
          const call = await calls.openCall({
            endpoint: '/v1/audio/speech',
            caller: callerOf(request),
            model: 'slow',
            maxUsage: { inputTokens: 0, outputTokens: 0 },
          });
          running += 1;
          async function* pieces() {
            for (let piece = 0; piece < Number(params.pieces); piece += 1) {
              yield new TextEncoder().encode(`${piece}\n`);
              await released.promise;
            }
            await call.close({ status: 'completed', inputTokens: 0, outputTokens: 0 });
            running -= 1;
            if (running === 0) idle.resolve();
          }
          return new Response(pieces());
        });
        return {
          provides: {},
          routes,
          ready: () => ({ ready: true }),
          async drain() {
            log.info('draining', { running });
            idle = Promise.withResolvers<void>();
            if (running > 0) await idle.promise;
          },
          async close() {
            log.info('closing', { running });
          },
        };
      },
    },
    {
      name: 'extra',
      needs: [],
      offers: [],
      paths: ['/v1/extra'],
      setup: async () => ({
        provides: {},
        routes: new Elysia({ name: 'extra' }).get('/v1/extra', () => 'extra'),
        ready: () => ({ ready: true }),
        drain: async () => {},
        close: async () => {},
      }),
    },
  ],
  services: () => new LazyServices({}),
});
