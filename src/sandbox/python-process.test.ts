import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isRunning } from '../kit/process/host-id.ts';
import { PythonProcess, type PythonProcessOptions } from './python-process.ts';

const ESCAPED = join(import.meta.dirname, '../../test/harness/escaped-python.ts');

/** A process whose program has broken out of Python already. */
async function escaped(options: Partial<PythonProcessOptions> = {}): Promise<PythonProcess> {
  const python = new PythonProcess({ timeMs: 20_000, heapBytes: 2 ** 26, entry: ESCAPED, ...options });
  onTestFinished(() => python.kill());
  await python.ready();
  return python;
}

test('the kernel refuses what reaches beyond the process, whoever asks', async () => {
  const python = await escaped();
  const results = new Map<string, string | undefined>();
  for (const doing of ['read a file', 'read its own environment', 'list a folder', 'write a file']) {
    results.set(doing, (await python.run(doing)).result);
  }
  expect([...new Set(results.values())]).toEqual(['EPERM']);
  const calls = ['open', 'socket', 'unix socket', 'fork', 'exec', 'mkdir', 'unlink', 'ptrace', 'setuid'];
  for (const doing of [...calls, 'signal to the service', 'signal to all']) {
    expect([doing, (await python.run(doing)).result]).toEqual([doing, '-1']);
  }
  expect(python.gone).toBe(false);
});

test('the runtime itself breaks when it would start a program or connect', async () => {
  const starting = await escaped();
  expect((await starting.run('start a program')).result).toMatch(/EMFILE|EPERM|failed to initialize/);
  const connecting = await escaped();
  expect((await connecting.run('connect')).gone).toBe('broken');
});

test('it has no environment, and no handles but its pipes', async () => {
  const python = await escaped();
  const { result = '' } = await python.run('see the environment');
  // The shell sets these, or the runtime.
  const added = ['OLDPWD', 'PWD', 'SHLVL', '_'];
  expect(JSON.parse(result).filter((name: string) => !added.includes(name))).toEqual([]);
  const folder = `/proc/${python.pid}/fd`;
  const handles = readdirSync(folder).map((fd) => readlinkSync(join(folder, fd)));
  const others = handles.filter((to) => !/^(pipe:|socket:|anon_inode:|\/dev\/null)/.test(to));
  expect(others).toEqual([]);
  expect(handles.filter((to) => /^(pipe|socket):/.test(to))).toHaveLength(2);
});

test.each([
  ['spin', 'time', { timeMs: 300 }],
  ['fill memory', 'memory', {}],
  ['send what nobody asked for', 'unruly', {}],
  ['send another kind', 'unruly', {}],
  ['send no message', 'unruly', {}],
  ['exit', 'broken', {}],
] as const)('one that would %s ends by %s, and is gone', async (doing, gone, limits) => {
  const python = await escaped(limits);
  const end = await python.run(doing);
  expect(end).toMatchObject({ gone, logs: doing === 'spin' ? 'spinning' : '' });
  expect(python.gone).toBe(true);
  await python.kill();
  expect(isRunning(python.pid)).toBe(false);
  expect((await python.run('open')).gone).toBe(gone);
});

test('one that cannot start never gets ready', async () => {
  const python = new PythonProcess({ timeMs: 1000, heapBytes: 2 ** 26, entry: '/nowhere/worker.ts' });
  await expect(python.ready()).rejects.toThrow('ended before it was ready (broken)');
  await python.kill();
});
