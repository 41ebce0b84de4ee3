import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import type { SttEngine } from '../../contract/engines/engine.ts';
import { RetriedLoad, retriedSttEngine } from './retried-load.ts';
import { SharedDownload } from './shared-download.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());
/** Runs all pending callbacks and promises. */
const settle = () => vi.advanceTimersByTimeAsync(0);
const RETRY_MS = 30_000;

/** A transcription model whose downloads and loads end when the test says so. */
function setUp() {
  const downloads: PromiseWithResolvers<void>[] = [];
  const loads: PromiseWithResolvers<void>[] = [];
  let closedEngines = 0;
  const log = new RecordingLogger();
  const begin = (all: PromiseWithResolvers<void>[]) => {
    const next = Promise.withResolvers<void>();
    all.push(next);
    return next.promise;
  };
  const engine: SttEngine = {
    languages: ['en'],
    hasPreviews: true,
    async *transcribe() {
      yield { kind: 'delta', text: 'hello' };
    },
    ready: () => ({ ready: true, detail: 'cpu' }),
    close: async () => {
      closedEngines += 1;
    },
  };
  const load = new RetriedLoad({
    model: 'ear',
    download: new SharedDownload({
      weights: {
        isOnDisk: () => false,
        fetch: (signal) =>
          Promise.race([
            begin(downloads),
            new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
          ]),
      },
      onNote: () => undefined,
      nowMs: () => 0,
    }),
    load: async () => {
      await begin(loads);
      return engine;
    },
    log,
  });
  return { load, ear: retriedSttEngine(load), downloads, loads, log, closed: () => closedEngines };
}

async function transcribe(ear: SttEngine): Promise<unknown> {
  const request = { task: 'transcribe', priority: 'interactive', fairnessKey: 'a' } as never;
  const events = ear.transcribe((async function* () {})(), request, new AbortController().signal);
  return Array.fromAsync(events).catch((error: unknown) => error);
}

test('a model is unavailable with its reason until it is downloaded and loaded, and is tried again', async () => {
  const { ear, downloads, loads, log } = setUp();
  await settle();
  expect(ear.ready()).toEqual({
    ready: false,
    detail: 'it is being downloaded',
    load: { state: 'downloading' },
  });
  expect(ear.languages).toBeUndefined();

  downloads[0]?.reject(new Error('the hub cannot be reached'));
  await settle();
  const failed = 'the download failed and is tried again';
  expect(ear.ready()).toEqual({ ready: false, detail: failed, load: { state: 'failed' } });
  expect(await transcribe(ear)).toMatchObject({
    status: 503,
    code: 'model_loading',
    retryAfterS: 30,
    message: `Model 'ear' is unavailable: ${failed}. Retry in 30 s.`,
  });

  await vi.advanceTimersByTimeAsync(RETRY_MS - 1);
  expect(downloads).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  downloads[1]?.reject(new Error('the hub cannot be reached'));
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  // The second failure has the same reason, so it is not logged.
  expect(log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)).toEqual([
    { model: 'ear', failed: 'download', reason: 'the hub cannot be reached' },
  ]);

  downloads[2]?.resolve();
  await settle();
  expect(ear.ready()).toMatchObject({ ready: false, load: { state: 'loading' } });
  loads[0]?.resolve();
  await settle();
  expect(ear.ready()).toEqual({ ready: true, detail: 'cpu', load: { state: 'loaded' } });
  expect(ear.languages).toEqual(['en']);
  expect(await transcribe(ear)).toEqual([{ kind: 'delta', text: 'hello' }]);
});

test('after a failed load, the files are verified before the next one', async () => {
  const { load, downloads, loads } = setUp();
  await settle();
  downloads[0]?.resolve();
  await settle();
  loads[0]?.reject(new Error('damaged'));
  await settle();
  expect(load.ready()).toMatchObject({ ready: false, detail: 'the load failed and is tried again' });
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  expect(downloads).toHaveLength(2);
});

test('a failed download is tried again without the pause on request', async () => {
  const { ear, downloads } = setUp();
  await settle();
  ear.load?.();
  await settle();
  expect(downloads).toHaveLength(1);
  downloads[0]?.reject(new Error('the hub cannot be reached'));
  await settle();
  ear.load?.();
  await settle();
  expect(downloads).toHaveLength(2);
  expect(ear.ready()).toMatchObject({ load: { state: 'downloading' } });
});

test('closing ends the attempts', async () => {
  const { ear, downloads } = setUp();
  await settle();
  await ear.close();
  await vi.advanceTimersByTimeAsync(10 * RETRY_MS);
  expect(downloads).toHaveLength(1);
});

test('an engine that has loaded after the close is closed', async () => {
  const { ear, downloads, loads, closed } = setUp();
  await settle();
  downloads[0]?.resolve();
  await settle();
  await ear.close();
  loads[0]?.resolve();
  await settle();
  expect(closed()).toBe(1);
});
