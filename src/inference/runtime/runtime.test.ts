import { describe, expect, it, onTestFinished } from 'vitest';
import { GraphBuilder } from '../onnx/graph-builder.ts';
import { DataType, encodeModel, type Graph } from '../onnx/onnx-proto.ts';
import { cudaError, type GraphSession, openGraph } from './runtime.ts';

const CPU = { provider: 'cpu', threads: 1 } as const;

/** y = x + x */
function doubling(): Uint8Array {
  const builder = new GraphBuilder('doubling');
  const x = builder.input('x', ['n']);
  builder.output('y', builder.op('Add', [x, x]));
  return onnx(builder.build());
}

/** y = x + x in float16, zero where `mute` is true; `on` is the negation of `mute` in float32. */
function doublingHalves(): Uint8Array {
  const builder = new GraphBuilder('doubling-halves');
  const x = builder.input('x', ['n'], DataType.FLOAT16);
  const mute = builder.input('mute', [1], DataType.BOOL);
  const nothing = builder.op('Cast', [builder.floats([1], [0])], { to: DataType.FLOAT16 });
  builder.alias('y', builder.op('Where', [mute, nothing, builder.op('Add', [x, x])]));
  builder.output('on', builder.op('Cast', [builder.op('Not', [mute])], { to: DataType.FLOAT }));
  const graph = builder.build();
  graph.output.push({ name: 'y', type: { tensorType: { elemType: DataType.FLOAT16 } } });
  graph.output.push({ name: 'mute_again', type: { tensorType: { elemType: DataType.BOOL } } });
  builder.alias('mute_again', mute);
  return onnx(graph);
}

function onnx(graph: Graph): Uint8Array {
  return encodeModel({ irVersion: 9, producerName: 'test', opsetImport: [{ version: 20 }], graph });
}

async function open(model = doubling()): Promise<GraphSession> {
  const session = await openGraph(model, CPU);
  onTestFinished(() => session.close());
  return session;
}

const input = (...values: number[]) => ({
  x: { type: 'float32' as const, dims: [values.length], data: Float32Array.from(values) },
});

describe('a graph', () => {
  it('returns its outputs with their shapes', async () => {
    const { y } = await (await open()).run(input(1, 2.5), ['y']);
    expect(y).toEqual({ dims: [2], data: Float32Array.of(2, 5) });
  });

  it('returns arrays that later runs do not change', async () => {
    const session = await open();
    const { y } = await session.run(input(1), ['y']);
    await session.run(input(7), ['y']);
    expect([...y.data]).toEqual([2]);
  });

  it('throws for missing inputs and unknown outputs', async () => {
    const session = await open();
    await expect(session.run({}, ['y'])).rejects.toThrow();
    await expect(session.run(input(1), ['z'])).rejects.toThrow();
  });

  it('exposes the names of its inputs', async () => {
    expect([...(await open()).inputs]).toEqual(['x']);
    expect([...(await open(doublingHalves())).inputs]).toEqual(['x', 'mute']);
  });

  it('converts float16 inputs and outputs from and to float32', async () => {
    const session = await open(doublingHalves());
    const mute = (value: number) => ({ type: 'bool' as const, dims: [1], data: Uint8Array.of(value) });
    const { y, on } = await session.run({ ...input(1, 2.5, 1.1), mute: mute(0) }, ['y', 'on']);
    expect(y.dims).toEqual([3]);
    expect(y.data).toEqual(Float32Array.of(2, 5, 2 * Math.f16round(1.1)));
    expect([...on.data]).toEqual([1]);
    expect((await session.run({ x: y, mute: mute(0) }, ['y'])).y.data[1]).toBe(10);
    expect([...(await session.run({ x: y, mute: mute(1) }, ['y'])).y.data]).toEqual([0, 0, 0]);
    // A float16 output of one graph is a valid float32 input of another.
    expect([...(await (await open()).run({ x: y }, ['y'])).y.data.slice(0, 2)]).toEqual([4, 10]);
    await expect(session.run({ x: y, mute: mute(0) }, ['mute_again'])).rejects.toThrow(
      'not a tensor of floats',
    );
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
  ])('cannot be opened from %s', async (_, bytes) => {
    await expect(openGraph(bytes, CPU)).rejects.toThrow();
  });
});

describe('CUDA', () => {
  it('names the library that the dynamic loader did not find', () => {
    const message =
      'Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open shared object file: No such file or directory';
    expect(cudaError(new Error(message)).message).toMatch(
      /^ORT_PROVIDER=cuda, but .*the library libcublasLt\.so\.13 is missing\. CUDA 13's cublas/,
    );
  });

  it('repeats other errors of the runtime', () => {
    expect(cudaError(new Error('no CUDA-capable device is detected')).message).toContain(
      'no CUDA-capable device is detected',
    );
  });
});
