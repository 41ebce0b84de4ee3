import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../server/config.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { GraphBuilder } from '../onnx/graph-builder.ts';
import { encodeModel } from '../onnx/onnx-proto.ts';

const ROOT = join(import.meta.dirname, '../../..');

it('ONNX Runtime neither reports nor keeps anything about its sessions', async () => {
  const [home, scratch] = [await tempDir(), await tempDir()];
  const builder = new GraphBuilder('doubling');
  const x = builder.input('x', ['n']);
  builder.output('y', builder.op('Add', [x, x]));
  const model = {
    irVersion: 9,
    producerName: 'test',
    opsetImport: [{ version: 20 }],
    graph: builder.build(),
  };
  await Bun.write(join(scratch, 'doubling.onnx'), encodeModel(model));
  const program = `
    import { openGraph } from '${ROOT}/src/inference/runtime/runtime.ts';
    const graph = await openGraph('${scratch}/doubling.onnx', { provider: 'cpu', threads: 1 });
    const { y } = await graph.run({ x: { type: 'float32', dims: [1], data: Float32Array.of(2) } }, ['y']);
    console.log(y.data[0]);
    await graph.close();
  `;
  const { PATH } = process.env;
  const bun = { BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0' };
  const { environment } = loadConfig({ ...bun, PATH, HOME: home, TMPDIR: scratch }).inference;
  const child = Bun.spawn([process.execPath, '-e', program], {
    env: environment,
    cwd: ROOT,
    stderr: 'inherit',
  });
  expect(await new Response(child.stdout).text()).toBe('4\n');
  expect(await child.exited).toBe(0);
  // The database of events would be in the home folder; its library also writes a log to the folder for temporary files.
  expect(readdirSync(home)).toEqual([]);
  expect(readdirSync(scratch)).toEqual(['doubling.onnx']);
});
