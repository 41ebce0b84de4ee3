import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../server/config.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { inDeepTier } from '../../test/harness/tier.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { codeRunner } from './code-runner.ts';
import { PythonProcess } from './python-process.ts';
import { SnapshotBuilder } from './snapshot-builder.ts';

const LIMITS = { timeMs: 60_000, heapBytes: 64 * 2 ** 20 };

function start(modelsDir: string): PythonProcess {
  const python = new PythonProcess({ ...LIMITS, modelsDir });
  onTestFinished(() => python.kill());
  return python;
}

/** Starts an interpreter, and returns the value of a program and whether it was started from the snapshot. */
async function valueIn(modelsDir: string, code: string) {
  const python = start(modelsDir);
  const { restored } = await python.ready();
  const { result, error } = await python.run(code);
  await python.kill();
  return { restored, value: result ?? error };
}

test('the snapshot is built after an interpreter has started without it, and the next ones start from it', async () => {
  const modelsDir = await tempDir();
  const entry = join(modelsDir, 'python.ts');
  await writeFile(entry, `console.log('{"kind":"ready","restored":false}'); for await (const _ of console);`);
  const log = new RecordingLogger();
  const runner = codeRunner({ ...LIMITS, modelsDir, entry, maxConcurrent: 2, log });
  onTestFinished(() => runner.close());
  const { signal } = new AbortController();
  const running = runner.openContainer('a').runProgram('1', signal);
  await expect.poll(() => snapshotsIn(modelsDir)).toHaveLength(1);
  expect(await valueIn(modelsDir, '6 * 7')).toEqual({ restored: true, value: '42' });
  expect(log.lines).toEqual([]);
  await Promise.all([runner.close(), expect(running).rejects.toThrow('shutting down')]);
});

inDeepTier(() =>
  test('a damaged snapshot is not used, and both interpreters have the same state', async () => {
    const modelsDir = await tempDir();
    await new SnapshotBuilder(modelsDir, new RecordingLogger()).build();
    const state =
      'import sys, os\nsys.path, sorted(os.environ.items()), os.getcwd(), sys.flags, os.listdir("/home")';
    const { restored, value } = await valueIn(modelsDir, state);
    expect(restored).toBe(true);
    for (const path of snapshotsIn(modelsDir)) await appendFile(path, 'x');
    expect(await valueIn(modelsDir, state)).toEqual({ restored: false, value });
  }),
);

function snapshotsIn(modelsDir: string): string[] {
  const files = new Bun.Glob('imports/python/v*/memory.bin').scanSync(modelsDir);
  return [...files].map((name) => join(modelsDir, name));
}

test('interpreters that start from the snapshot have different random numbers', async () => {
  const { modelsDir } = loadConfig(process.env);
  await new SnapshotBuilder(modelsDir, new RecordingLogger()).build();
  const code =
    'import os, random, secrets, uuid\n[random.random(), os.urandom(8), secrets.token_hex(), uuid.uuid4()]';
  const [one, other] = [await valueIn(modelsDir, code), await valueIn(modelsDir, code)];
  expect([one.restored, other.restored]).toEqual([true, true]);
  const values = (text = '') => text.slice(1, -1).split(', ');
  expect(values(one.value)).toHaveLength(4);
  for (const value of values(one.value)) expect(values(other.value)).not.toContain(value);
});

test('a folder in which the snapshot cannot be written is logged once', async () => {
  const log = new RecordingLogger();
  const builder = new SnapshotBuilder('/proc', log);
  await Promise.all([builder.build(), builder.build()]);
  expect(log.lines).toMatchObject([
    { level: 'warn', message: 'Python snapshot could not be written, so interpreters start slowly' },
  ]);
});

test('close() ends the build, and later builds do nothing', async () => {
  const modelsDir = await tempDir();
  const log = new RecordingLogger();
  const builder = new SnapshotBuilder(modelsDir, log);
  const building = builder.build();
  await builder.close();
  await building;
  await builder.build();
  expect(snapshotsIn(modelsDir)).toEqual([]);
  expect(log.lines).toEqual([]);
});
