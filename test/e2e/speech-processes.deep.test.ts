import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import {
  childrenOf,
  INFERENCE,
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
  speakStreamed,
} from '../../tools/harness/services/launcher.ts';

/** Signals to the API process and its inference processes. */

const CONFIG = `[models."svc-tts"]\nkind = "piper"\n[inference]\nworkers = 2\nthreads = 1\n${NO_RECOGNISER}${NO_TEXT}`;
/** Children of the API process: inference processes and voice activity detection. */
const env = { PLUGINS: 'speech,realtime' };
const TEXT =
  'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them. ';

let service: LaunchedService | undefined;
afterEach(() => service?.stop());

const speak = (running: LaunchedService) => speakStreamed(running, TEXT);

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Expects that a signal to the whole process group does not cut off speech that has started. */
async function expectDrain(running: LaunchedService, signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
  const whole = await (await speak(running)).bytes();
  const children = childrenOf(running.pid);
  expect(childrenOf(running.pid, INFERENCE)).toHaveLength(2);

  const response = await speak(running);
  for (const pid of [...children, running.pid]) process.kill(pid, signal);
  expect((await response.bytes()).length).toBe(whole.length);
  expect(await running.exited).toBe(0);
  expect(children.filter(isAlive)).toEqual([]);
}

test('a killed inference process is restarted, and SIGTERM to the process group does not cut off running speech', async () => {
  service = await launchService({ config: CONFIG, env });
  const running = service;
  const [first] = childrenOf(running.pid, INFERENCE);
  process.kill(first ?? 0, 'SIGKILL');
  await expect.poll(() => running.log().some(({ msg }) => msg === 'inference process exited')).toBe(true);
  const responses = await Promise.all(Array.from({ length: 4 }, () => speakStreamed(running, 'Hello.')));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await Promise.all(responses.map((response) => response.bytes()));
  await expect.poll(() => childrenOf(running.pid, INFERENCE).length).toBe(2);

  await expectDrain(running, 'SIGTERM');
});

test('the child processes exit when the API process is killed', async () => {
  service = await launchService({ config: CONFIG, env });
  const children = childrenOf(service.pid);
  const response = await speak(service);
  service.signal('SIGKILL');
  await expect(response.bytes()).rejects.toThrow();
  await expect.poll(() => children.filter(isAlive)).toEqual([]);
});

test('in a folder whose name has spaces and non-ASCII letters, SIGINT does not cut off running speech', async () => {
  const root = resolve(import.meta.dirname, '../..');
  const checkout = mkdtempSync(join(tmpdir(), 'a ø 100% checkout-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  const parts = [
    'src',
    'server',
    'plugins',
    'packages',
    'web',
    'docs',
    'README.md',
    'package.json',
    'tsconfig.json',
  ];
  for (const part of parts) {
    cpSync(join(root, part), join(checkout, part), { recursive: true });
  }
  for (const part of ['node_modules', 'native']) symlinkSync(join(root, part), join(checkout, part));
  service = await launchService({ config: CONFIG, env, main: join(checkout, 'server/main.ts') });
  await expectDrain(service, 'SIGINT');
});
