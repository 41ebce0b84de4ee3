import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ServiceError } from '../../contract/core/error.ts';
import type { TextEngine, TextEvent, TextRequest } from '../../contract/engines/text.ts';
import { jsonLogger } from '../../kit/logging/json-logger.ts';
import type { Progress } from '../../models/progress.ts';
import { SharedDownload } from './shared-download.ts';
import { OnDemandTextEngine } from './text-engine.ts';

const REQUEST: TextRequest = {
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }],
  tools: [],
  toolChoice: 'none',
  parallelToolCalls: false,
  output: { kind: 'text' },
  sampling: {},
  stop: [],
  priority: 'interactive',
  fairnessKey: 'key',
};
const END: TextEvent = {
  kind: 'end',
  reason: 'stop',
  tokens: { input: 1, output: 1, cached: 0, reasoning: 0 },
};

/** A model whose download, load and responses end when the test says so. */
function setUp(options: { isOnDisk?: boolean; idleMs?: number; loadWaitMs?: number } = {}) {
  let isOnDisk = options.isOnDisk ?? false;
  let nowMs = 0;
  const fetches: { resolve(): void; reject(error: Error): void; progress: Progress; signal: AbortSignal }[] =
    [];
  const loads: { resolve(): void; reject(error: Error): void }[] = [];
  const answers: { end(): void }[] = [];
  let closedEngines = 0;
  const lines: string[] = [];

  const download = new SharedDownload({
    weights: {
      isOnDisk: () => isOnDisk,
      async fetch(signal, progress) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        fetches.push({ resolve, reject, progress, signal });
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        await promise;
        isOnDisk = true;
      },
    },
    onNote: () => undefined,
    nowMs: () => nowMs,
  });
  const engine = (): TextEngine => ({
    contextTokens: 4096,
    async *generate() {
      yield { kind: 'text', text: 'Hi' };
      const { promise, resolve } = Promise.withResolvers<void>();
      answers.push({ end: resolve });
      await promise;
      yield END;
    },
    ready: () => ({ ready: true, detail: 'llama, cpu' }),
    close: async () => {
      closedEngines += 1;
    },
  });
  const onDemand = () =>
    new OnDemandTextEngine({
      model: 'qwen',
      contextTokens: 8192,
      download,
      open: async () => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        loads.push({ resolve, reject });
        await promise;
        return engine();
      },
      idleMs: options.idleMs ?? 0,
      log: jsonLogger('info', { write: (line) => void lines.push(line), close: async () => undefined }),
      loadWaitMs: options.loadWaitMs,
    });
  return {
    model: onDemand(),
    onDemand,
    download,
    fetches,
    loads,
    answers,
    lines,
    closedEngines: () => closedEngines,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

async function collect(model: TextEngine, signal = new AbortController().signal): Promise<TextEvent[]> {
  const events: TextEvent[] = [];
  for await (const event of model.generate(REQUEST, signal)) events.push(event);
  return events;
}
const failureOf = (model: TextEngine) =>
  collect(model).then(
    () => Promise.reject(new Error('The request succeeded.')),
    (error: unknown) => error as ServiceError,
  );
const one = <T>(items: readonly T[]): T => {
  const last = items.at(-1);
  if (last === undefined) throw new Error('There is none.');
  return last;
};

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());
/** Runs all pending callbacks and promises. */
const settle = () => vi.advanceTimersByTimeAsync(0);

describe('a model that is not on disk', () => {
  test('is downloaded in the background; requests get 503 with the progress, then wait for the load', async () => {
    const { model, fetches, loads, answers, wait } = setUp();
    expect(model.contextTokens).toBe(8192);
    expect(model.ready()).toEqual({
      ready: true,
      detail: 'not loaded; the first request loads it',
      load: { state: 'not_loaded' },
    });
    expect(await failureOf(model)).toMatchObject({
      status: 503,
      code: 'model_loading',
      retryAfterS: 10,
      message: "Model 'qwen' is being downloaded: 0 % done. Retry in 10 s.",
    });

    const { progress, resolve } = one(fetches);
    progress.startSet?.(1000);
    progress.startDownload('weights', 1000);
    progress.update(0);
    wait(5000);
    progress.update(250);
    expect(await failureOf(model)).toMatchObject({
      status: 503,
      code: 'model_loading',
      retryAfterS: 15,
      message: "Model 'qwen' is being downloaded: 25 % done. Retry in 15 s.",
    });
    expect(model.ready()).toEqual({
      ready: true,
      detail: 'downloading, 25 %',
      load: { state: 'downloading', percent: 25, doneBytes: 250, totalBytes: 1000 },
    });
    expect(fetches).toHaveLength(1);

    resolve();
    await settle();
    expect(model.ready()).toMatchObject({ ready: true, load: { state: 'loading' } });
    const waiting = collect(model);
    await settle();
    one(loads).resolve();
    await settle();
    one(answers).end();
    expect(await waiting).toEqual([{ kind: 'text', text: 'Hi' }, END]);
    expect(model.ready()).toEqual({ ready: true, detail: 'llama, cpu', load: { state: 'loaded' } });
    expect(model.contextTokens).toBe(4096);
    expect(loads).toHaveLength(1);
  });

  test('is downloaded once for several model ids', async () => {
    const { model, onDemand, fetches, loads } = setUp();
    const other = onDemand();
    await Promise.all([failureOf(model), failureOf(model), failureOf(other)]);
    expect(fetches).toHaveLength(1);
    one(fetches).resolve();
    await settle();
    expect(loads).toHaveLength(2);
  });

  test('a failed download is reported, and retried by the next request', async () => {
    const { model, fetches, lines } = setUp();
    await failureOf(model);
    one(fetches).reject(new Error('no source delivered the files'));
    await settle();
    expect(model.ready()).toEqual({
      ready: false,
      detail: 'the download failed; the next request retries it',
      load: { state: 'failed' },
    });
    expect(lines.join()).toContain('no source delivered the files');
    expect(await failureOf(model)).toMatchObject({
      code: 'model_loading',
      message:
        "Model 'qwen' is being downloaded: 0 % done. The last download failed and is retried. Retry in 10 s.",
    });
    expect(fetches).toHaveLength(2);
    expect(model.ready()).toMatchObject({ ready: true, load: { state: 'downloading' } });
  });

  test('is downloaded and loaded without a request', async () => {
    const { model, fetches, loads } = setUp();
    model.load();
    model.load();
    await settle();
    expect(model.ready()).toMatchObject({ load: { state: 'downloading' } });
    one(fetches).resolve();
    await settle();
    one(loads).resolve();
    await settle();
    expect(model.ready()).toMatchObject({ ready: true, load: { state: 'loaded' } });
    model.load();
    await settle();
    expect([fetches, loads].map((calls) => calls.length)).toEqual([1, 1]);
  });

  test('a failed download is retried without a request; a closed model is not loaded', async () => {
    const { model, fetches } = setUp();
    model.load();
    await settle();
    one(fetches).reject(new Error('no source delivered the files'));
    await settle();
    model.load();
    await settle();
    expect(fetches).toHaveLength(2);
    fetches[1]?.reject(new Error('no source delivered the files'));
    await settle();
    await model.close();
    model.load();
    await settle();
    expect(fetches).toHaveLength(2);
  });

  test('a closed service stops the download and the requests', async () => {
    const { model, download, fetches } = setUp();
    await failureOf(model);
    await model.close();
    await download.close();
    expect(one(fetches).signal.aborted).toBe(true);
    expect(await failureOf(model)).toMatchObject({ status: 503, code: 'server_overloaded' });
    expect(model.ready().ready).toBe(false);
  });
});

describe('a model on disk', () => {
  test('is loaded by the first request, which waits', async () => {
    const { model, fetches, loads, answers } = setUp({ isOnDisk: true });
    const events = collect(model);
    await settle();
    expect(model.ready()).toMatchObject({ detail: 'loading', load: { state: 'loading' } });
    one(loads).resolve();
    await settle();
    one(answers).end();
    expect(await events).toHaveLength(2);
    expect(fetches).toHaveLength(0);
  });

  test('a request waits for a limited time; the load continues', async () => {
    const { model, loads, answers } = setUp({ isOnDisk: true, loadWaitMs: 30_000 });
    const late = failureOf(model);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await late).toMatchObject({ status: 503, code: 'model_loading' });
    expect((await late).message).toBe("Model 'qwen' is being loaded. Retry in 10 s.");
    const next = collect(model);
    await settle();
    one(loads).resolve();
    await settle();
    one(answers).end();
    expect(await next).toHaveLength(2);
    expect(loads).toHaveLength(1);
  });

  test('an aborted request stops waiting; the load continues', async () => {
    const { model, loads } = setUp({ isOnDisk: true });
    const stop = new AbortController();
    const request = collect(model, stop.signal);
    await settle();
    const reason = new Error('the client disconnected');
    stop.abort(reason);
    await expect(request).rejects.toBe(reason);
    one(loads).resolve();
    await settle();
    expect(model.ready()).toMatchObject({ load: { state: 'loaded' } });
  });

  test('a failed load fails the waiting requests; the next one verifies the files and loads again', async () => {
    const { model, fetches, loads } = setUp({ isOnDisk: true });
    const request = failureOf(model);
    await settle();
    one(loads).reject(new Error('/secret/path is damaged'));
    const error = await request;
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ status: 500, code: 'server_error' });
    expect(error.message).not.toContain('/secret');
    expect(model.ready()).toMatchObject({ ready: false, load: { state: 'failed' } });
    expect(await failureOf(model)).toMatchObject({ code: 'model_loading' });
    one(fetches).resolve();
    await settle();
    one(loads).resolve();
    await settle();
    expect(model.ready()).toMatchObject({ ready: true, load: { state: 'loaded' } });
  });

  test('a model that finishes loading after the close is closed', async () => {
    const { model, loads, closedEngines } = setUp({ isOnDisk: true });
    const request = failureOf(model);
    await settle();
    const closing = model.close();
    one(loads).resolve();
    await closing;
    expect(await request).toMatchObject({ code: 'server_overloaded' });
    expect(closedEngines()).toBe(1);
  });
});

describe('an idle model', () => {
  const load = async ({ model, loads, answers }: ReturnType<typeof setUp>) => {
    const events = collect(model);
    await settle();
    one(loads).resolve();
    await settle();
    one(answers).end();
    await events;
  };

  test('is unloaded, and loaded again by the next request', async () => {
    const parts = setUp({ isOnDisk: true, idleMs: 60_000 });
    await load(parts);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(parts.closedEngines()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(parts.closedEngines()).toBe(1);
    expect(parts.model.ready()).toMatchObject({ ready: true, load: { state: 'not_loaded' } });
    await load(parts);
    expect(parts.loads).toHaveLength(2);
  });

  test('is not unloaded while a request runs', async () => {
    const parts = setUp({ isOnDisk: true, idleMs: 60_000 });
    await load(parts);
    const events = collect(parts.model);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(parts.closedEngines()).toBe(0);
    one(parts.answers).end();
    await events;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(parts.closedEngines()).toBe(1);
  });

  test('is unloaded even if the request that loaded it has left', async () => {
    const parts = setUp({ idleMs: 60_000 });
    await failureOf(parts.model);
    one(parts.fetches).resolve();
    await settle();
    one(parts.loads).resolve();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(parts.closedEngines()).toBe(1);
  });

  test('stays loaded with an idle time of 0', async () => {
    const parts = setUp({ isOnDisk: true, idleMs: 0 });
    await load(parts);
    await vi.advanceTimersByTimeAsync(2 ** 31);
    expect(parts.closedEngines()).toBe(0);
    await parts.model.close();
    expect(parts.closedEngines()).toBe(1);
  });
});
