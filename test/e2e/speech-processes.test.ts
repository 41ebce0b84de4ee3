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
const TEXT =
  'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them. ';

let service: LaunchedService | undefined;
afterEach(() => service?.stop());

const speak = (running: LaunchedService) => speakStreamed(running, TEXT.repeat(4));

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s to the whole process group does not cut off running speech',
  async (signal) => {
    service = await launchService({ config: CONFIG });
    const whole = await (await speak(service)).bytes();
    const children = childrenOf(service.pid);
    expect(childrenOf(service.pid, INFERENCE)).toHaveLength(2);

    const response = await speak(service);
    for (const pid of [...children, service.pid]) process.kill(pid, signal);
    expect((await response.bytes()).length).toBe(whole.length);
    expect(await service.exited).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
  },
);

test('inference processes exit when the API process is killed', async () => {
  service = await launchService({ config: CONFIG });
  const children = childrenOf(service.pid);
  const response = await speak(service);
  service.signal('SIGKILL');
  await expect(response.bytes()).rejects.toThrow();
  await expect.poll(() => children.filter(isAlive), { timeout: 10_000 }).toEqual([]);
});

test('when one of two inference processes is killed, requests succeed and it is restarted', async () => {
  service = await launchService({ config: CONFIG });
  const [first] = childrenOf(service.pid, INFERENCE);
  process.kill(first ?? 0, 'SIGKILL');
  const running = service;
  await expect.poll(() => running.log().some(({ msg }) => msg === 'inference process exited')).toBe(true);
  const statuses = await Promise.all(Array.from({ length: 4 }, async () => (await speak(running)).status));
  expect(statuses).toEqual([200, 200, 200, 200]);
  await expect.poll(() => childrenOf(running.pid, INFERENCE).length, { timeout: 10_000 }).toBe(2);
});

test('the service runs in a folder whose name has spaces and non-ASCII letters', async () => {
  const root = resolve(import.meta.dirname, '../..');
  const checkout = mkdtempSync(join(tmpdir(), 'a ø 100% checkout-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  const parts = ['src', 'plugins', 'models', 'web', 'docs', 'README.md', 'package.json', 'tsconfig.json'];
  for (const part of parts) {
    cpSync(join(root, part), join(checkout, part), { recursive: true });
  }
  for (const part of ['node_modules', 'native']) symlinkSync(join(root, part), join(checkout, part));
  service = await launchService({ config: CONFIG, main: join(checkout, 'src/main.ts') });
  expect((await speak(service)).status).toBe(200);
});
