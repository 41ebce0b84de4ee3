import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../harness/temp-dir.ts';

const root = join(import.meta.dirname, '..', '..');

/** Imports a graph of 4 MB. Prints 'building' if it builds the graph, then the folder of the result. */
const worker = `
  import { importOnce } from '${join(root, 'src/kit/storage/import-cache.ts')}';
  const key = { sources: ['0'.repeat(64)], importer: 'fill', version: 1, provider: 'cpu' };
  const build = (dir) => Bun.write(dir + '/graph.onnx', new Uint8Array(4_000_000).fill(7));
  console.log(await importOnce(process.env.FETCH_DIR, key, build, { onBuild: () => console.log('building') }));
`;

test('concurrent processes build the same import once', async () => {
  const modelsDir = await tempDir();
  const children = [1, 2, 3].map(() => {
    const child = Bun.spawn([process.execPath, '-e', worker], {
      env: { ...process.env, FETCH_DIR: modelsDir },
      stdout: 'pipe',
      stderr: 'inherit',
    });
    onTestFinished(() => child.kill());
    return child;
  });
  const outputs = await Promise.all(children.map((child) => child.stdout.text()));
  const lines = outputs.flatMap((output) => output.trim().split('\n'));
  expect(lines.filter((line) => line === 'building')).toHaveLength(1);
  const folders = new Set(lines.filter((line) => line !== 'building'));
  expect(folders.size).toBe(1);
  const [folder = ''] = folders;
  // `toEqual` takes seconds for millions of bytes.
  const graph = await readFile(join(folder, 'graph.onnx'));
  expect(graph.equals(Buffer.alloc(4_000_000, 7))).toBe(true);
  // No lock file and no temporary folder remain.
  expect(await readdir(join(modelsDir, 'imports', 'fill'))).toHaveLength(1);
});
