import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { BROKEN_WHILE, COUNT, EXIT, HANG } from '../../../../test/doubles/fake-smart-turn-worker.ts';
import { metricValue } from '../../../../test/harness/metric-values.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { noMetrics, silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import { loadConfig } from '../../../config/config.ts';
import type { TurnEndDetector } from '../../../contract/engines/turn-end.ts';
import { systemClock } from '../../../kit/clock.ts';
import { createMetrics } from '../../../metrics/registry.ts';
import { openSmartTurn, type SmartTurnOptions } from './engine.ts';

const { modelsDir } = loadConfig(process.env);
const FAKE = fileURLToPath(new URL('../../../../test/doubles/fake-smart-turn-worker.ts', import.meta.url));
const CRASHED = { kind: 'internal', code: 'worker_crashed' };
const OVERLOADED = { kind: 'overloaded', code: 'server_overloaded' };
const never = new AbortController().signal;

async function openFake(options: Partial<SmartTurnOptions> = {}): Promise<TurnEndDetector> {
  const detector = await openSmartTurn({
    modelsDir,
    threads: 1,
    environment: {},
    log: silentLog,
    metrics: noMetrics,
    entry: FAKE,
    ...options,
  });
  onTestFinished(() => detector.close());
  return detector;
}

/** A request that the fake process answers after `delayMs`. */
const ask = (detector: TurnEndDetector, value: number, delayMs = 0, signal = never) =>
  detector.probability(Float32Array.of(value, delayMs), signal);

it('processes requests in order of arrival', async () => {
  const detector = await openFake();
  expect(detector.ready()).toEqual({ ready: true, detail: 'smart-turn, cpu' });
  const order: number[] = [];
  const requests = [
    [0.5, 60],
    [0.25, 30],
    [0.75, 0],
  ] as const;
  await Promise.all(
    requests.map(([value, delayMs]) => ask(detector, value, delayMs).then((result) => order.push(result))),
  );
  expect(order).toEqual([0.5, 0.25, 0.75]);
});

it('copies the samples', async () => {
  const detector = await openFake();
  const first = ask(detector, 0.5, 30);
  const samples = Float32Array.of(0.25, 0);
  const second = detector.probability(samples, never);
  samples[0] = 0.75;
  expect(await Promise.all([first, second])).toEqual([0.5, 0.25]);
});

it('skips a request that is aborted before it starts', async () => {
  const detector = await openFake();
  const running = ask(detector, 0.5, 50);
  const stop = new AbortController();
  const waiting = ask(detector, 0.25, 0, stop.signal);
  const last = ask(detector, COUNT);
  stop.abort(new Error('the speaker continues'));
  await expect(waiting).rejects.toThrow('the speaker continues');
  await expect(ask(detector, 0.25, 0, stop.signal)).rejects.toThrow('the speaker continues');
  expect(await Promise.all([running, last])).toEqual([0.5, 1]);
});

it('rejects a running request at its abort, and ignores its result', async () => {
  const detector = await openFake();
  const stop = new AbortController();
  const running = ask(detector, 0.5, 200, stop.signal);
  const next = ask(detector, 0.25);
  stop.abort(new Error('the speaker continues'));
  const first = await Promise.race([next, running.catch((error: Error) => error.message)]);
  expect(first).toBe('the speaker continues');
  expect(await next).toBe(0.25);
});

it('rejects requests beyond its queue, and accepts them when it has space', async () => {
  const detector = await openFake({ maxQueued: 2 });
  const accepted = [ask(detector, 0.5, 50), ask(detector, 0.25), ask(detector, 0.75)];
  await expect(ask(detector, 1)).rejects.toMatchObject(OVERLOADED);
  expect(await Promise.all(accepted)).toEqual([0.5, 0.25, 0.75]);
  expect(await ask(detector, 1)).toBe(1);
});

it('fails the running request at a crash, and processes the queued ones in the next process', async () => {
  const metrics = createMetrics(systemClock);
  onTestFinished(() => metrics.close());
  const detector = await openFake({ metrics });
  const restarts = () => metricValue(metrics, 'worker_restarts_total{process="turn_end"}');
  expect(await restarts()).toBe(0);
  const crashing = ask(detector, EXIT);
  const waiting = ask(detector, COUNT);
  await expect(crashing).rejects.toMatchObject(CRASHED);
  expect(detector.ready()).toEqual({ ready: false, detail: 'end-of-turn process is starting' });
  expect(await waiting).toBe(0);
  expect(detector.ready().ready).toBe(true);
  expect(await restarts()).toBe(1);
});

it('replaces a process that hangs', async () => {
  // Also enough for the next process on a busy machine.
  const detector = await openFake({ requestTimeoutMs: 3000 });
  const hanging = ask(detector, HANG);
  const waiting = ask(detector, 0.5);
  await expect(hanging).rejects.toMatchObject(CRASHED);
  expect(await waiting).toBe(0.5);
});

it('rejects requests while the model cannot be loaded, and recovers', async () => {
  const broken = join(await tempDir(), 'broken');
  const detector = await openFake({ environment: { [BROKEN_WHILE]: broken } });
  await writeFile(broken, '');
  const crashing = ask(detector, EXIT);
  const waiting = ask(detector, 0.5);
  await expect(crashing).rejects.toMatchObject(CRASHED);
  await expect(waiting).rejects.toMatchObject(OVERLOADED);
  await expect(ask(detector, 0.5)).rejects.toMatchObject(OVERLOADED);
  await rm(broken);
  await expect.poll(() => detector.ready().ready).toBe(true);
  expect(await ask(detector, 0.5)).toBe(0.5);
});

it('rejects all requests when it is closed', async () => {
  const detector = await openFake();
  const open = [ask(detector, HANG), ask(detector, 0.5)];
  const rejected = Promise.all(open.map((each) => expect(each).rejects.toMatchObject(OVERLOADED)));
  await detector.close();
  await rejected;
  await detector.close();
  expect(detector.ready().ready).toBe(false);
  await expect(ask(detector, 0.5)).rejects.toThrow('shutting down');
});
