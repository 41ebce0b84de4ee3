import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { EchoLoad } from '../../../test/doubles/echo-process.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { SupervisedProcess } from './supervised-process.ts';

const ECHO = fileURLToPath(new URL('../../../test/doubles/echo-process.ts', import.meta.url));

/** A process under supervision, with everything that was told of it. */
function supervise(load: EchoLoad = { greeting: 'hello' }, entry = ECHO) {
  const log = new RecordingLogger();
  const told: string[] = [];
  const supervised = new SupervisedProcess<EchoLoad, string, string, string>({
    name: 'echo',
    entry,
    load,
    environment: {},
    loadLimitMs: 10_000,
    log,
    received: (message) => told.push(message),
    loaded: () => told.push('loaded'),
    lost: () => {
      told.push('lost');
      supervised.send('to nobody');
    },
  });
  onTestFinished(() => supervised.close());
  const hasTold = (...expected: string[]) => expect.poll(() => told, { timeout: 5000 }).toEqual(expected);
  const pausesMs = () => log.lines.flatMap(({ fields }) => fields.restartInMs ?? []);
  return { supervised, hasTold, pausesMs };
}

it('hands the load over, and messages in each direction', async () => {
  const { supervised, hasTold } = supervise({ greeting: 'good day' });
  expect(supervised.loaded).toBe(false);
  expect(await supervised.start()).toBe('good day');
  supervised.send('one');
  supervised.send('two');
  await hasTold('loaded', 'one!', 'two!');
});

it('replaces a process that died, later after each loss in a row and soon again after an answer', async () => {
  const { supervised, hasTold, pausesMs } = supervise();
  await supervised.start();
  supervised.send('die');
  await hasTold('loaded', 'lost', 'loaded');
  expect(supervised.failing).toBe(false);
  supervised.send('die');
  await hasTold('loaded', 'lost', 'loaded', 'lost', 'loaded');
  supervised.answered();
  supervised.send('die');
  await hasTold('loaded', 'lost', 'loaded', 'lost', 'loaded', 'lost', 'loaded');
  expect(pausesMs()).toEqual([100, 200, 100]);
});

it('kills a process that gives no answer in time, and no other', async () => {
  const { supervised, hasTold, pausesMs } = supervise();
  await supervised.start();
  supervised.watch(20);
  supervised.answered();
  supervised.send('one');
  await hasTold('loaded', 'one!');
  expect(pausesMs()).toEqual([]);
  supervised.watch(20);
  await hasTold('loaded', 'one!', 'lost', 'loaded');
});

it('drops messages to a process that is not there', async () => {
  const { supervised, hasTold } = supervise();
  await supervised.start();
  supervised.send('die');
  await hasTold('loaded', 'lost', 'loaded');
  supervised.send('three');
  await hasTold('loaded', 'lost', 'loaded', 'three!');
});

it('tells nothing more once it is closed, and starts nothing', async () => {
  const { supervised, hasTold, pausesMs } = supervise();
  await supervised.start();
  await supervised.close();
  await supervised.close();
  expect(supervised.loaded).toBe(false);
  await hasTold('loaded');
  expect(pausesMs()).toEqual([]);
});

it('waits no longer for a load when it is closed', async () => {
  const { supervised, hasTold, pausesMs } = supervise({ greeting: '' });
  const started = supervised.start();
  const closed = supervised.close();
  await expect(started).rejects.toThrow('The echo was closed before it had loaded.');
  await closed;
  await hasTold();
  expect(pausesMs()).toEqual([]);
});

it('heeds nothing that a process said before it was closed', async () => {
  const folder = await tempDir();
  const entry = join(folder, 'hasty.ts');
  const said = join(folder, 'said');
  await writeFile(
    entry,
    `process.send({ kind: 'loaded', loaded: '' });
     await Bun.write(${JSON.stringify(said)}, '');
     setInterval(() => undefined, 1000);`,
  );
  const { supervised, hasTold, pausesMs } = supervise(undefined, entry);
  const started = supervised.start();
  // What it says lies in the pipe until the event loop has its turn.
  while (!existsSync(said)) Bun.sleepSync(5);
  const closed = supervised.close();
  await expect(started).rejects.toThrow('The echo was closed before it had loaded.');
  await closed;
  expect(supervised.loaded).toBe(false);
  await hasTold();
  expect(pausesMs()).toEqual([]);
});
