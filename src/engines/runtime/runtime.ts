/**
 * The only importer of the ONNX runtime. Runs in inference processes alone: a run blocks its thread from
 * start to end, and a fault in native code ends the process.
 */

import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { RuntimeOptions } from '../pool/model.ts';

/** A tensor of a graph's input, or what a graph made. Floats are rounded where the graph takes float16. */
export type GraphInput =
  | { readonly type: 'float32'; readonly dims: readonly number[]; readonly data: Float32Array }
  | { readonly type: 'int64'; readonly dims: readonly number[]; readonly data: BigInt64Array }
  /** One byte for each element, 0 or 1. */
  | { readonly type: 'bool'; readonly dims: readonly number[]; readonly data: Uint8Array }
  | GraphOutput;

/** Floats that a graph made, float16 or float32; `data` belongs to the caller. */
export interface GraphOutput {
  readonly dims: readonly number[];
  readonly data: Float32Samples;
}

/** A graph in memory, ready to run. */
export interface GraphSession {
  /** Names of what the graph takes. */
  readonly inputs: ReadonlySet<string>;
  /**
   * Runs the graph once and blocks meanwhile.
   * @throws Error when an output is missing or no tensor of floats, and what the runtime throws.
   */
  run<const Name extends string>(
    inputs: Readonly<Record<string, GraphInput>>,
    outputs: readonly Name[],
  ): Promise<Readonly<Record<Name, GraphOutput>>>;
  /** Frees the graph. Idempotent. */
  close(): Promise<void>;
}

/** How a graph is run. */
export interface GraphTuning {
  /**
   * Whether threads wait for the next operator by spinning, as long as a run lasts. For graphs of many short
   * operators, such as a decoder's step, which takes 2.2 ms instead of 3.1; others would only take the core that
   * the serving thread needs.
   */
  readonly spinning?: boolean;
}

/**
 * Loads a graph from a file or from its bytes.
 * @throws Error that says what is missing, when `cuda` is asked for and cannot be had.
 */
export async function openGraph(
  model: string | Uint8Array,
  options: RuntimeOptions,
  tuning: GraphTuning = {},
): Promise<GraphSession> {
  const session = await createSession(model, options, tuning);
  const halves = new Set(session.inputMetadata.filter(takesHalves).map(({ name }) => name));
  let released = false;
  return {
    inputs: new Set(session.inputNames),
    async run(inputs, outputs) {
      const feeds = Object.fromEntries(
        Object.entries(inputs).map(([name, input]) => [name, toTensor(input, halves.has(name))]),
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
  { spinning = false }: GraphTuning,
): Promise<InferenceSession> {
  if (options.provider === 'cuda') requireCudaProvider();
  const settings: InferenceSession.SessionOptions = {
    executionProviders: [options.provider],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    // Shapes differ from run to run, so remembered memory plans would never be used again.
    enableMemPattern: false,
    extra: {
      session: { intra_op: { allow_spinning: spinning ? '1' : '0' }, force_spinning_stop: '1' },
    },
  };
  try {
    return typeof model === 'string'
      ? await InferenceSession.create(model, settings)
      : await InferenceSession.create(model, settings);
  } catch (error) {
    if (options.provider === 'cuda') throw explainCudaFailure(error);
    throw error;
  }
}

function takesHalves(input: InferenceSession.ValueMetadata): boolean {
  return input.isTensor && input.type === 'float16';
}

function toTensor(input: GraphInput, asHalves: boolean): Tensor {
  const { dims } = input;
  if ('type' in input && input.type === 'int64') return new Tensor('int64', input.data, dims);
  if ('type' in input && input.type === 'bool') return new Tensor('bool', input.data, dims);
  if (!asHalves) return new Tensor('float32', input.data, dims);
  return halfTensor(input instanceof Halves ? input.halves : new Float16Array(input.data), dims);
}

/** The runtime's addon reads nothing out of Bun's Float16Array, only out of the same bits as Uint16Array. */
function halfTensor({ buffer, byteOffset, length }: Float16Array, dims: readonly number[]): Tensor {
  const bits = new Uint16Array(buffer, byteOffset, length);
  // A Tensor makes a Float16Array of them again, so they take its place.
  return Object.defineProperty(new Tensor('float16', bits, dims), 'data', { value: bits });
}

function toOutput(name: string, tensor: Tensor | undefined): GraphOutput {
  if (tensor?.type === 'float32') return { dims: tensor.dims, data: tensor.data as Float32Samples };
  // Bun has a Float16Array, so that is what this is, whatever the types say.
  if (tensor?.type === 'float16') return new Halves(tensor.dims, tensor.data as unknown as Float16Array);
  throw new Error(`graph output ${name} is not a tensor of floats`);
}

/** A float16 output: widened when it is read, and left as it is when it only goes on into the next run. */
class Halves implements GraphOutput {
  readonly dims: readonly number[];
  readonly halves: Float16Array;
  #data: Float32Samples | undefined;

  constructor(dims: readonly number[], halves: Float16Array) {
    this.dims = dims;
    this.halves = halves;
  }

  get data(): Float32Samples {
    this.#data ??= new Float32Array(this.halves);
    return this.#data;
  }
}

const CUDA_PROVIDER = 'libonnxruntime_providers_cuda.so';

/** The npm package brings the CPU provider; CUDA's is put beside it by whoever builds for a GPU. */
function requireCudaProvider(): void {
  const folder = runtimeLibraryFolder();
  const missing = [CUDA_PROVIDER, 'libonnxruntime_providers_shared.so'].filter(
    (file) => !existsSync(join(folder, file)),
  );
  if (missing.length === 0) return;
  throw new Error(
    `ORT_PROVIDER=cuda, but ${missing.join(' and ')} cannot be found in ${folder}. Put it there from the ` +
      `Python package onnxruntime-gpu ${env.versions.node}, which must be of this very version, or set ORT_PROVIDER=cpu.`,
  );
}

/** What the runtime's own words mean for the operator: the library that the loader lacked. */
export function explainCudaFailure(cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const library = /(lib[\w.+-]+\.so[.\d]*): cannot open shared object/.exec(reason)?.[1];
  const needs = library
    ? `the library ${library} is missing. CUDA 13's cublas, cuda-runtime, cudnn, cufft and curand must be on the library path`
    : reason;
  return new Error(`ORT_PROVIDER=cuda, but the CUDA provider could not be started: ${needs}.`, { cause });
}

/** Where libonnxruntime lies: `bin/napi-v<N>/<platform>/<arch>` of the package. */
function runtimeLibraryFolder(): string {
  const bin = join(dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json')), 'bin');
  const abi = readdirSync(bin).find((name) => name.startsWith('napi-v')) ?? 'napi-v6';
  return join(bin, abi, process.platform, process.arch);
}
