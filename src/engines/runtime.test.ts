import { describe, expect, it, onTestFinished } from 'vitest';
import { GraphBuilder } from './onnx/graph-builder.ts';
import { encodeModel } from './onnx/onnx-proto.ts';
import { explainCudaFailure, type GraphSession, openGraph } from './runtime.ts';

const CPU = { provider: 'cpu', threads: 1 } as const;

/** y = x + x */
function doubling(): Uint8Array {
  const builder = new GraphBuilder('doubling');
  const x = builder.input('x', ['n']);
  builder.output('y', builder.op('Add', [x, x]));
  return encodeModel({
    irVersion: 9,
    producerName: 'test',
    opsetImport: [{ version: 20 }],
    graph: builder.build(),
  });
}

async function open(): Promise<GraphSession> {
  const session = await openGraph(doubling(), CPU);
  onTestFinished(() => session.close());
  return session;
}

const input = (...values: number[]) => ({
  x: { type: 'float32' as const, dims: [values.length], data: Float32Array.from(values) },
});

describe('a graph', () => {
  it('gives its outputs with their shape', async () => {
    const { y } = await (await open()).run(input(1, 2.5), ['y']);
    expect(y).toEqual({ dims: [2], data: Float32Array.of(2, 5) });
  });

  it('gives arrays that later runs leave alone', async () => {
    const session = await open();
    const { y } = await session.run(input(1), ['y']);
    await session.run(input(7), ['y']);
    expect([...y.data]).toEqual([2]);
  });

  it('throws for inputs and outputs that it lacks', async () => {
    const session = await open();
    await expect(session.run({}, ['y'])).rejects.toThrow();
    await expect(session.run(input(1), ['z'])).rejects.toThrow();
  });

  it('may be closed twice', async () => {
    const session = await open();
    await session.close();
    await session.close();
    await expect(session.run(input(1), ['y'])).rejects.toThrow();
  });

  it.each([
    ['no bytes', new Uint8Array(0)],
    ['noise', Uint8Array.from({ length: 100 }, (_, at) => (at * 37) % 256)],
    ['half a graph', doubling().slice(0, 40)],
  ])('is not made of %s', async (_, bytes) => {
    await expect(openGraph(bytes, CPU)).rejects.toThrow();
  });
});

describe('CUDA', () => {
  it('names the library that the loader lacked', () => {
    const words =
      'Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open shared object file: No such file or directory';
    expect(explainCudaFailure(new Error(words)).message).toMatch(
      /^ORT_PROVIDER=cuda, but .*the library libcublasLt\.so\.13 is missing\. CUDA 13's cublas/,
    );
  });

  it('repeats other words of the runtime', () => {
    expect(explainCudaFailure(new Error('no CUDA-capable device is detected')).message).toContain(
      'no CUDA-capable device is detected',
    );
  });
});
