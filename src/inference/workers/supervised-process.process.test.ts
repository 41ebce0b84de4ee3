import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { EchoLoad } from '../../../test/doubles/echo-process.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { processState } from '../../../tools/harness/services/process-state.ts';
import { ExitedWhileLoadingError, SupervisedProcess } from './supervised-process.ts';

const ECHO = fileURLToPath(new URL('../../../test/doubles/echo-process.ts', import.meta.url));

/** Creates a supervised echo process and records its callbacks in order. */
function supervise(load: EchoLoad = { greeting: 'hello' }, entry = ECHO) {
  const log = new RecordingLogger();
  const events: string[] = [];
  const supervised = new SupervisedProcess<EchoLoad, string, string, string>({
    name: 'echo',
    entry,
    load,
    environment: {},
    loadTimeoutMs: 10_000,
    log,
    onMessage: (message) => events.push(message),
    onLoaded: () => events.push('loaded'),
    onExit: () => {
      events.push('exit');
      supervised.send('dropped');
    },
  });
  onTestFinished(() => supervised.close());
  const expectEvents = (...expected: string[]) => expect.poll(() => events).toEqual(expected);
  const pausesMs = () => log.lines.flatMap(({ fields }) => fields.restartInMs ?? []);
  return { supervised, events, expectEvents, pausesMs };
}

it('sends the load and messages in each direction', async () => {
  const { supervised, expectEvents } = supervise({ greeting: 'good day' });
  expect(supervised.loaded).toBe(false);
  expect(await supervised.start()).toBe('good day');
  supervised.send('one');
  supervised.send('two');
  await expectEvents('loaded', 'one!', 'two!');
});

it('restarts a crashed process with a backoff that doubles and that a completed request resets', async () => {
  const { supervised, expectEvents, pausesMs } = supervise();
  await supervised.start();
  supervised.send('die');
  await expectEvents('loaded', 'exit', 'loaded');
  expect(supervised.failing).toBe(false);
  supervised.send('die');
  await expectEvents('loaded', 'exit', 'loaded', 'exit', 'loaded');
  supervised.stopWatchdog();
  supervised.send('die');
  await expectEvents('loaded', 'exit', 'loaded', 'exit', 'loaded', 'exit', 'loaded');
  expect(pausesMs()).toEqual([100, 200, 100]);
});

it.runIf(process.platform === 'linux')(
  'stops and continues a process, and closes a stopped one',
  async () => {
    const { supervised, events, expectEvents } = supervise();
    await supervised.start();
    supervised.send('pid');
    await expect.poll(() => events.length).toBe(2);
    const pid = Number(events.pop());
    supervised.pause();
    await expect.poll(() => processState(pid)).toBe('T');
    supervised.send('one');
    supervised.resume();
    supervised.resume();
    await expectEvents('loaded', 'one!');
    supervised.pause();
    await supervised.close();
    expect(processState(pid) ?? 'Z').toBe('Z');
  },
);

it('kills a process only when the watchdog expires', async () => {
  const { supervised, expectEvents, pausesMs } = supervise();
  await supervised.start();
  supervised.startWatchdog(20);
  supervised.stopWatchdog();
  supervised.send('one');
  await expectEvents('loaded', 'one!');
  expect(pausesMs()).toEqual([]);
  supervised.startWatchdog(20);
  await expectEvents('loaded', 'one!', 'exit', 'loaded');
});

it('drops messages to a process that is not loaded', async () => {
  const { supervised, expectEvents } = supervise();
  await supervised.start();
  supervised.send('die');
  await expectEvents('loaded', 'exit', 'loaded');
  supervised.send('three');
  await expectEvents('loaded', 'exit', 'loaded', 'three!');
});

it('calls no callbacks and starts no process after it is closed', async () => {
  const { supervised, expectEvents, pausesMs } = supervise();
  await supervised.start();
  await supervised.close();
  await supervised.close();
  expect(supervised.loaded).toBe(false);
  await expectEvents('loaded');
  expect(pausesMs()).toEqual([]);
});

it('rejects a pending start when it is closed', async () => {
  const { supervised, expectEvents, pausesMs } = supervise({ greeting: '' });
  const started = supervised.start();
  const closed = supervised.close();
  await expect(started).rejects.toThrow('The echo was closed before it finished loading.');
  await closed;
  await expectEvents();
  expect(pausesMs()).toEqual([]);
});

it('rejects a start with the cause when the process exits before it has loaded', async () => {
  const folder = await tempDir();
  const entry = join(folder, 'exits.ts');
  await writeFile(entry, 'process.exit(3);');
  const error = await supervise(undefined, entry)
    .supervised.start()
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ExitedWhileLoadingError);
  expect(error).toMatchObject({
    message: 'The echo exited before it finished loading (exit code 3).',
  });
});

it('ignores messages that arrive after it is closed', async () => {
  const folder = await tempDir();
  const entry = join(folder, 'hasty.ts');
  const sent = join(folder, 'sent');
  await writeFile(
    entry,
    `process.send({ kind: 'loaded', loaded: '' });
     await Bun.write(${JSON.stringify(sent)}, '');
     setInterval(() => undefined, 1000);`,
  );
  const { supervised, expectEvents, pausesMs } = supervise(undefined, entry);
  const started = supervised.start();
  // The message stays in the pipe until the event loop runs.
  while (!existsSync(sent)) Bun.sleepSync(5);
  const closed = supervised.close();
  await expect(started).rejects.toThrow('The echo was closed before it finished loading.');
  await closed;
  expect(supervised.loaded).toBe(false);
  await expectEvents();
  expect(pausesMs()).toEqual([]);
});
