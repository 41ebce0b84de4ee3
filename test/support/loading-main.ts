import { runProcess } from '../../src/process.ts';

/** A build whose engines never finish loading, or fail after FAIL_AFTER_MS, for tests of the start. */
const failAfterMs = process.env.FAIL_AFTER_MS;

await runProcess({
  plugins: () => [
    {
      name: 'waiting',
      needs: ['tts'],
      offers: [],
      setup: () => Promise.reject(new Error('set up without engines')),
    },
  ],
  async openTts() {
    if (failAfterMs === undefined) return new Promise<never>(() => {});
    await Bun.sleep(Number(failAfterMs));
    throw new Error('the model file is missing');
  },
});
