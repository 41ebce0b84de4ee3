import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isRunning } from '../kit/process/host-id.ts';
import { PythonProcess, type PythonProcessOptions } from './python-process.ts';

const LIMITS = { timeMs: 20_000, heapBytes: 2 ** 26, modelsDir: '/nowhere' };
const ESCAPED = join(import.meta.dirname, '../../test/harness/escaped-python.ts');

/** A process that simulates a program that has escaped from Python. */
async function escaped(options: Partial<PythonProcessOptions> = {}): Promise<PythonProcess> {
  const python = new PythonProcess({ ...LIMITS, entry: ESCAPED, ...options });
  onTestFinished(() => python.kill());
  await python.ready();
  return python;
}

test('the kernel rejects system calls that access the host', async () => {
  const python = await escaped();
  const results = new Map<string, string | undefined>();
  for (const action of ['read a file', 'read its own environment', 'list a folder', 'write a file']) {
    results.set(action, (await python.run(action)).result);
  }
  expect([...new Set(results.values())]).toEqual(['EPERM']);
  const calls = ['open', 'socket', 'unix socket', 'fork', 'exec', 'mkdir', 'unlink', 'ptrace', 'setuid'];
  for (const action of [...calls, 'signal to the service', 'signal to all']) {
    expect([action, (await python.run(action)).result]).toEqual([action, '-1']);
  }
  expect(python.hasEnded).toBe(false);
});

test('the runtime fails to start programs and to open connections', async () => {
  const starting = await escaped();
  expect((await starting.run('start a program')).result).toMatch(/EMFILE|EPERM|failed to initialize/);
  const connecting = await escaped();
  expect((await connecting.run('connect')).termination).toBe('crashed');
});

test('it has no environment variables, and no descriptors except its pipes', async () => {
  const python = await escaped();
  const { result = '' } = await python.run('see the environment');
  // The shell or the runtime sets these variables.
  const added = ['OLDPWD', 'PWD', 'SHLVL', '_'];
  expect(JSON.parse(result).filter((name: string) => !added.includes(name))).toEqual([]);
  const folder = `/proc/${python.pid}/fd`;
  const handles = readdirSync(folder).map((fd) => readlinkSync(join(folder, fd)));
  const others = handles.filter((to) => !/^(pipe:|socket:|anon_inode:|\/dev\/null)/.test(to));
  expect(others).toEqual([]);
  expect(handles.filter((to) => /^(pipe|socket):/.test(to))).toHaveLength(2);
});

test.each([
  ['spin', 'time', { timeMs: 3000 }],
  ['fill memory', 'memory', {}],
  ['send an unexpected message', 'protocol_violation', {}],
  ['send another kind', 'protocol_violation', {}],
  ['send no message', 'protocol_violation', {}],
  ['exit', 'crashed', {}],
] as const)('a process that would %s is terminated with reason %s', async (action, termination, limits) => {
  const python = await escaped(limits);
  const end = await python.run(action);
  expect(end).toMatchObject({ termination, logs: action === 'spin' ? 'spinning' : '' });
  expect(python.hasEnded).toBe(true);
  await python.kill();
  expect(isRunning(python.pid)).toBe(false);
  expect((await python.run('open')).termination).toBe(termination);
});

test('ready() rejects if the process cannot start', async () => {
  const python = new PythonProcess({ ...LIMITS, entry: '/nowhere/worker.ts' });
  await expect(python.ready()).rejects.toThrow('exited before it was ready (crashed)');
  await python.kill();
});
