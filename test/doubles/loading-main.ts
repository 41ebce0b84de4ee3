import { runProcess } from '../../server/process.ts';
import { LazyServices } from '../../src/kit/lifecycle/lazy-services.ts';

/** A build whose engines load until SIGUSR2 and then fail, for tests of the start. */
const failure = Promise.withResolvers<never>();
process.once('SIGUSR2', () => failure.reject(new Error('the model file is missing')));

await runProcess({
  plugins: () => [
    {
      name: 'waiting',
      needs: ['tts'],
      offers: [],
      routes: [],
      setup: () => Promise.reject(new Error('set up without engines')),
    },
  ],
  services: () => new LazyServices({ tts: () => failure.promise }),
});
