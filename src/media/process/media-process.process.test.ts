import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { sine, wavFile } from '../../../tools/harness/media/wav-files.ts';
import { MediaProcess, type MediaProcessOptions } from './media-process.ts';
import type { AudioJob } from './protocol.ts';

const FAKE = join(import.meta.dirname, '../../../test/doubles/fake-media-worker.ts');

function start(options: Partial<MediaProcessOptions> = {}): MediaProcess {
  const process = new MediaProcess({
    environment: {},
    memoryLimitBytes: 2 ** 30,
    stallTimeoutMs: 10_000,
    ...options,
  });
  onTestFinished(() => process.kill());
  return process;
}

const job = (path: string): AudioJob => ({ path, rateHz: 16_000, blockSamples: 8000, maxS: 60 });

/** Whether a process exists, checked with signal 0. */
function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ['silent', 'stalled', { stallTimeoutMs: 100 }],
  ['spin', 'stalled', { stallTimeoutMs: 100 }],
  ['unstarted', 'not-started', { stallTimeoutMs: 100, startTimeoutMs: 1000 }],
  ['memory', 'memory', { memoryLimitBytes: 300 * 2 ** 20 }],
  ['exit', 'crashed', {}],
  ['segfault', 'crashed', {}],
] as const)('a process that is %s is lost as %s and ended', async (doing, reason, limits) => {
  const child = start({ entry: FAKE, ...limits });
  child.run(job(`/x/${doing}`), 4);
  await expect(child.next()).rejects.toMatchObject({ reason });
  expect(child.hasEnded).toBe(true);
  await child.kill();
  expect(alive(child.pid)).toBe(false);
});

test.each([
  ['flood', ['opened', 'samples', 'samples', 'samples']],
  ['huge', ['opened']],
  ['chatter', ['opened', 'opened']],
])('a process that exceeds its credit by %s is killed, and the excess is discarded', async (doing, taken) => {
  const child = start({ entry: FAKE });
  child.run({ ...job(`/x/opened-${doing}`), blockSamples: 100 }, 2);
  child.grant(1);
  await expect.poll(() => child.hasEnded).toBe(true);
  const kinds: string[] = [];
  const all = (async () => {
    for (;;) kinds.push((await child.next()).kind);
  })();
  await expect(all).rejects.toMatchObject({ reason: 'credit-exceeded' });
  expect(kinds).toEqual(taken);
  await child.kill();
  expect(alive(child.pid)).toBe(false);
});

test('a process that cannot load its libraries is lost as not-started', async () => {
  const child = start({ entry: '/nowhere/worker.ts' });
  child.run(job('/x'), 4);
  await expect(child.next()).rejects.toMatchObject({ reason: 'not-started' });
});

test('decoded blocks never exceed the credit', async () => {
  const path = join(await tempDir(), 'long.wav');
  await Bun.write(path, wavFile({ kind: 'int', bits: 16, rateHz: 16_000, channels: 1 }, sine(5, 16_000)));
  const child = start({ stallTimeoutMs: 2000 });
  child.run(job(path), 2);
  const kinds = [await child.next(), await child.next(), await child.next()].map((message) => message.kind);
  expect(kinds).toEqual(['opened', 'samples', 'samples']);
  child.grant(1);
  expect((await child.next()).kind).toBe('samples');
  await expect(child.next()).rejects.toMatchObject({ reason: 'stalled' });
});

test('the process gets only the given environment variables', async () => {
  const child = start({ entry: FAKE, environment: { NAMED: 'yes' } });
  child.run(job('/x/opened-silent'), 1);
  expect((await child.next()).kind).toBe('opened');
  const variables = (await Bun.file(`/proc/${child.pid}/environ`).text()).split('\0');
  const names = variables.map((variable) => variable.split('=')[0]).filter((name) => name !== '');
  // The shell and the IPC channel add variables.
  const added = ['PWD', 'OLDPWD', 'SHLVL', '_', 'NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE'];
  expect(names.filter((name) => !added.includes(name ?? ''))).toEqual(['NAMED']);
});
