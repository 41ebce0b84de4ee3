import { runProcess } from '../../server/process.ts';
import type { Caller } from '../../src/contract/accounts/caller.ts';
import type { Route } from '../../src/contract/route.ts';
import { route } from '../../src/http/route.ts';
import { LazyServices } from '../../src/kit/lifecycle/lazy-services.ts';

/**
 * A build for tests of plugin selection and shutdown. `GET /v1/slow/:pieces` of the plugin `slow` streams the first piece, the
 * others after the signal SIGUSR2, and then closes its call. The plugin `extra` has one route.
 */
const released = Promise.withResolvers<void>();
process.once('SIGUSR2', () => released.resolve());

interface SlowServices {
  readonly answer: (caller: Caller, pieces: number) => Promise<Response>;
}

await runProcess({
  plugins: () => [
    {
      name: 'slow',
      needs: ['log', 'calls'],
      offers: [],
      routes: [
        route({
          method: 'GET',
          path: '/v1/slow/:pieces',
          isHidden: true,
          handle: ({ caller, params }, { answer }: SlowServices) => answer(caller, Number(params.pieces)),
        }) as Route,
      ],
      async setup({ log, calls }) {
        let running = 0;
        let idle = Promise.withResolvers<void>();
        const answer = async (caller: Caller, count: number) => {
          const call = await calls.openCall({
            endpoint: '/v1/audio/speech',
            caller,
            model: 'slow',
            maxUsage: { inputTokens: 0, outputTokens: 0 },
          });
          running += 1;
          async function* pieces() {
            for (let piece = 0; piece < count; piece += 1) {
              yield new TextEncoder().encode(`${piece}\n`);
              await released.promise;
            }
            await call.close({ status: 'completed', inputTokens: 0, outputTokens: 0 });
            running -= 1;
            if (running === 0) idle.resolve();
          }
          return new Response(pieces());
        };
        return {
          provides: {},
          services: { answer },
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
      routes: [
        route({
          method: 'GET',
          path: '/v1/extra',
          tag: 'service',
          summary: 'A path of the plugin extra',
          description: 'Returns a text.',
          responses: {},
          handle: () => 'extra',
        }),
      ],
      setup: async () => ({
        provides: {},
        ready: () => ({ ready: true }),
        drain: async () => {},
        close: async () => {},
      }),
    },
  ],
  services: () => new LazyServices({}),
});
