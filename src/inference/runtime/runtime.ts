/**
 * The only module that imports the ONNX runtime. Used in worker processes only: a run blocks its thread, and an error in
 * native code terminates the process.
 */

import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** An input tensor of a graph, or an output of another graph. Floats are rounded if the input is float16. */
export type GraphInput =
  | { readonly type: 'float32'; readonly dims: readonly number[]; readonly data: Float32Array }
  | { readonly type: 'int64'; readonly dims: readonly number[]; readonly data: BigInt64Array }
  /** One byte per element, 0 or 1. */
  | { readonly type: 'bool'; readonly dims: readonly number[]; readonly data: Uint8Array }
  | GraphOutput;

/** A float16 or float32 output of a graph. The caller owns `data`. */
export interface GraphOutput {
  readonly dims: readonly number[];
  readonly data: Float32Samples;
}

/** A graph in memory, ready to run. */
export interface GraphSession {
  /** Names of the inputs of the graph. */
  readonly inputs: ReadonlySet<string>;
  /**
   * Runs the graph once. Blocks the thread.
   * @throws Error when an output is missing or is not a tensor of floats; errors of the runtime.
   */
  run<const Name extends string>(
    inputs: Readonly<Record<string, GraphInput>>,
    outputs: readonly Name[],
  ): Promise<Readonly<Record<Name, GraphOutput>>>;
  /** Frees the graph. Idempotent. */
  close(): Promise<void>;
}

/** Runtime options of a graph. */
export interface GraphTuning {
  /**
   * Whether threads wait for the next operator of a run by spinning. Useful for graphs of many short operators: a decoder
   * step takes 2.2 ms instead of 3.1 ms. For other graphs, spinning only occupies the cores of the serving process.
   * Default: false.
   */
  readonly spinning?: boolean;
  /**
   * Whether sums of int8 products must not saturate on x86 processors without instructions for them, where the runtime
   * then uses slower ones. Default: false.
   */
  readonly exactInt8?: boolean;
}

/**
 * Loads a graph from a file or from its bytes.
 * @throws Error that names the missing library when `cuda` is requested and not available.
 */
export async function openGraph(
  model: string | Uint8Array,
  options: RuntimeOptions,
  tuning: GraphTuning = {},
): Promise<GraphSession> {
  const session = await createSession(model, options, tuning);
  const float16s = new Set(session.inputMetadata.filter(acceptsFloat16).map(({ name }) => name));
  let released = false;
  return {
    inputs: new Set(session.inputNames),
    async run(inputs, outputs) {
      const feeds = Object.fromEntries(
        Object.entries(inputs).map(([name, input]) => [name, toTensor(input, float16s.has(name))]),
      );
      const results = await session.run(feeds, [...outputs]);
      return Object.fromEntries(outputs.map((name) => [name, toOutput(name, results[name])])) as never;
    },
    async close() {
      if (released) return;
      released = true;
      await session.release();
    },
  };
}

async function createSession(
  model: string | Uint8Array,
  options: RuntimeOptions,
  { spinning = false, exactInt8 = false }: GraphTuning,
): Promise<InferenceSession> {
  if (options.provider === 'cuda') requireCudaProvider();
  const settings: InferenceSession.SessionOptions = {
    executionProviders: [options.provider],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    // Shapes differ between runs, so memory plans could not be reused.
    enableMemPattern: false,
    extra: {
      session: {
        intra_op: { allow_spinning: spinning ? '1' : '0' },
        force_spinning_stop: '1',
        x64quantprecision: exactInt8 ? '1' : '0',
      },
    },
  };
  try {
    return typeof model === 'string'
      ? await InferenceSession.create(model, settings)
      : await InferenceSession.create(model, settings);
  } catch (error) {
    if (options.provider === 'cuda') throw cudaError(error);
    throw error;
  }
}

function acceptsFloat16(input: InferenceSession.ValueMetadata): boolean {
  return input.isTensor && input.type === 'float16';
}

function toTensor(input: GraphInput, asFloat16: boolean): Tensor {
  const { dims } = input;
  if ('type' in input && input.type === 'int64') return new Tensor('int64', input.data, dims);
  if ('type' in input && input.type === 'bool') return new Tensor('bool', input.data, dims);
  if (!asFloat16) return new Tensor('float32', input.data, dims);
  return float16Tensor(input instanceof HalfFloats ? input.float16s : new Float16Array(input.data), dims);
}

/** Creates a float16 tensor. The native addon cannot read Bun's Float16Array, only a Uint16Array of the same bits. */
function float16Tensor({ buffer, byteOffset, length }: Float16Array, dims: readonly number[]): Tensor {
  const bits = new Uint16Array(buffer, byteOffset, length);
  // The constructor of Tensor converts the bits to a Float16Array; this restores them.
  return Object.defineProperty(new Tensor('float16', bits, dims), 'data', { value: bits });
}

function toOutput(name: string, tensor: Tensor | undefined): GraphOutput {
  if (tensor?.type === 'float32') return { dims: tensor.dims, data: tensor.data as Float32Samples };
  // Bun has Float16Array, so the runtime returns one, in contrast to its types.
  if (tensor?.type === 'float16') return new HalfFloats(tensor.dims, tensor.data as unknown as Float16Array);
  throw new Error(`graph output ${name} is not a tensor of floats`);
}

/** A float16 output. Converted to float32 on access, and passed unchanged to the next run. */
class HalfFloats implements GraphOutput {
  readonly dims: readonly number[];
  readonly float16s: Float16Array;
  #data: Float32Samples | undefined;

  constructor(dims: readonly number[], float16s: Float16Array) {
    this.dims = dims;
    this.float16s = float16s;
  }

  get data(): Float32Samples {
    this.#data ??= new Float32Array(this.float16s);
    return this.#data;
  }
}

const CUDA_PROVIDER = 'libonnxruntime_providers_cuda.so';

/** The npm package contains the CPU provider only. A build for a GPU adds the CUDA provider to the same folder. */
function requireCudaProvider(): void {
  const folder = runtimeLibraryDir();
  const missing = [CUDA_PROVIDER, 'libonnxruntime_providers_shared.so'].filter(
    (file) => !existsSync(join(folder, file)),
  );
  if (missing.length === 0) return;
  throw new Error(
    `ORT_PROVIDER=cuda, but ${missing.join(' and ')} is missing in ${folder}. Copy it from the Python package ` +
      `onnxruntime-gpu ${env.versions.node} (exactly this version), or set ORT_PROVIDER=cpu.`,
  );
}

/** Converts an error of the runtime to one that names the library that the dynamic loader did not find. */
export function cudaError(cause: unknown): Error {
  const message = cause instanceof Error ? cause.message : String(cause);
  const library = /(lib[\w.+-]+\.so[.\d]*): cannot open shared object/.exec(message)?.[1];
  const reason = library
    ? `the library ${library} is missing. CUDA 13's cublas, cuda-runtime, cudnn, cufft and curand must be on the library path`
    : message;
  return new Error(`ORT_PROVIDER=cuda, but the CUDA provider failed to start: ${reason}.`, { cause });
}

/** Folder of libonnxruntime: `bin/napi-v<N>/<platform>/<arch>` of the package. */
function runtimeLibraryDir(): string {
  const bin = join(dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json')), 'bin');
  const abi = readdirSync(bin).find((name) => name.startsWith('napi-v')) ?? 'napi-v6';
  return join(bin, abi, process.platform, process.arch);
}
