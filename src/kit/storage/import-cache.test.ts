import { appendFile, mkdir, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { type ImportKey, type ImportOptions, importOnce } from './import-cache.ts';

const key: ImportKey = {
  sources: ['a'.repeat(64)],
  importer: 'double',
  version: 1,
  provider: 'cpu',
  options: { floats: true, bits: 32 },
};

/** Runs an import that writes two files, and records the reasons for building. */
async function run(modelsDir: string, changes: Partial<ImportKey> = {}, options: ImportOptions = {}) {
  const reasons: string[] = [];
  const dir = await importOnce(
    modelsDir,
    { ...key, ...changes },
    async (draft) => {
      await writeFile(join(draft, 'front.onnx'), 'front');
      await writeFile(join(draft, 'decoder.onnx'), 'decoder');
    },
    { ...options, onBuild: (reason) => reasons.push(reason) },
  );
  return { dir, reasons };
}

describe('importOnce', () => {
  test('builds once for a key', async () => {
    const models = await tempDir();
    const first = await run(models);
    expect(first.reasons).toEqual(['not imported yet']);
    expect(await readFile(join(first.dir, 'front.onnx'), 'utf8')).toBe('front');
    const second = await run(models, { options: { bits: 32, floats: true } });
    expect(second).toEqual({ dir: first.dir, reasons: [] });
  });

  test.each<[string, Partial<ImportKey>]>([
    ['another source', { sources: ['b'.repeat(64)] }],
    ['another version', { version: 2 }],
    ['another provider', { provider: 'cuda' }],
    ['another option', { options: { floats: false, bits: 32 } }],
    ['no options', { options: undefined }],
  ])('builds separately for %s', async (_name, changes) => {
    const models = await tempDir();
    const first = await run(models);
    const second = await run(models, changes);
    expect(second.dir).not.toBe(first.dir);
    expect(second.reasons).toEqual(['not imported yet']);
    expect((await run(models)).reasons).toEqual([]);
  });

  test.each<[string, (dir: string) => Promise<void>, RegExp]>([
    ['a flipped byte', (dir) => writeFile(join(dir, 'front.onnx'), 'frond'), /front\.onnx is corrupt/],
    [
      'a truncated file',
      (dir) => truncate(join(dir, 'decoder.onnx'), 3),
      /decoder\.onnx has 3 bytes instead of 7/,
    ],
    ['a missing file', (dir) => rm(join(dir, 'front.onnx')), /front\.onnx is missing/],
    ['a broken manifest', (dir) => appendFile(join(dir, 'manifest.json'), '{'), /manifest cannot be read/],
    [
      'a manifest of another import',
      (dir) => writeFile(join(dir, 'manifest.json'), '{"key":"other","files":[{}]}'),
      /belongs to another/,
    ],
  ])('detects %s and builds again', async (_name, damage, reason) => {
    const models = await tempDir();
    const { dir } = await run(models);
    await damage(dir);
    const again = await run(models);
    expect(again.dir).toBe(dir);
    expect(again.reasons).toHaveLength(1);
    expect(again.reasons[0]).toMatch(reason);
    expect(await readFile(join(dir, 'front.onnx'), 'utf8')).toBe('front');
    expect((await run(models)).reasons).toEqual([]);
  });

  test('removes the files of a failed build', async () => {
    const models = await tempDir();
    const failing = importOnce(models, key, async (draft) => {
      await writeFile(join(draft, 'half'), 'half');
      throw new Error('out of memory');
    });
    await expect(failing).rejects.toThrow('out of memory');
    expect(await readdir(join(models, 'imports', 'double'))).toEqual([]);
  });

  test('rejects a build that wrote no file', async () => {
    const models = await tempDir();
    await expect(importOnce(models, key, async () => undefined)).rejects.toThrow(
      'The import step wrote no file.',
    );
  });

  test('rejects an importer name that is not a plain folder name', async () => {
    const models = await tempDir();
    await expect(run(models, { importer: '../elsewhere' })).rejects.toThrow(
      /must consist of lower-case letters/,
    );
  });

  test('builds once for concurrent calls', async () => {
    const models = await tempDir();
    const all = await Promise.all(Array.from({ length: 4 }, () => run(models)));
    expect(all.flatMap((one) => one.reasons)).toEqual(['not imported yet']);
    expect(new Set(all.map((one) => one.dir)).size).toBe(1);
  });

  test('keeps the most recently used imports and removes the rest', async () => {
    const models = await tempDir();
    const home = join(models, 'imports', 'double');
    await mkdir(join(home, 'draft-of-a-crashed-process'), { recursive: true });
    const dirs: string[] = [];
    for (const version of [1, 2, 3]) {
      const { dir } = await run(models, { version });
      // Last used in the year 2001, 2002, 2003.
      await utimes(join(dir, 'manifest.json'), new Date(2000 + version, 1), new Date(2000 + version, 1));
      dirs.push(basename(dir));
    }
    expect((await readdir(home)).sort()).toEqual([...dirs].sort());
    await run(models, { version: 1 });
    const { dir: fourth } = await run(models, { version: 4 }, { keep: 2 });
    expect((await readdir(dirname(fourth))).sort()).toEqual([dirs[0], basename(fourth)].sort());
  });

  test('rejects with the reason of an abort', async () => {
    const models = await tempDir();
    await run(models);
    const stopped = new Error('stopped by the test');
    await expect(run(models, {}, { signal: AbortSignal.abort(stopped) })).rejects.toBe(stopped);
  });
});
