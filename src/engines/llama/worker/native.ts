/**
 * Binding to llama.cpp: the native addon of the package `@node-llama-cpp/PLATFORM`, which contains one CPU library per
 * instruction set and loads the fastest one that this CPU supports. Its JavaScript wrapper is not used, because it schedules
 * requests itself. Every asynchronous call runs on a thread of the runtime. Calls on one context must not overlap, except for
 * samples of different sequences.
 */

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { OrtProvider } from '../../../contract/core/settings.ts';

/** The used subset of the addon. */
export interface LlamaBinding {
  readonly AddonModel: new (path: string, options: NativeModelOptions) => NativeModel;
  readonly AddonContext: new (model: NativeModel, options: NativeContextOptions) => NativeContext;
  /** Parses GBNF. @throws Error for an invalid grammar. */
  readonly AddonGrammar: new (
    gbnf: string,
    options: { readonly addonExports: LlamaBinding; readonly rootRuleName: 'root' },
  ) => NativeGrammar;
  /** State of one response in a grammar. */
  readonly AddonGrammarEvaluationState: new (
    model: NativeModel,
    grammar: NativeGrammar,
  ) => NativeGrammarState;
  /** @throws Error for an invalid template. */
  readonly AddonJinjaRenderer: new (
    template: string,
  ) => NativeTemplate;
  readonly AddonSampler: new (model: NativeModel) => NativeSampler;
  setLogger(log: (level: number, message: string) => void): void;
  /** Loads the libraries of this folder that the machine supports. */
  loadBackends(folder: string): void;
  getGpuType(): 'cuda' | 'vulkan' | 'metal' | false | undefined;
  init(): Promise<void>;
}

interface NativeModelOptions {
  readonly addonExports: LlamaBinding;
  readonly gpuLayers: number;
  readonly useMmap: true;
}

export interface NativeModel {
  /** Loads the weights. False if the file cannot be read. */
  init(): Promise<boolean>;
  /** @param special whether the text of a control token becomes that token. */
  tokenize(text: string, special: boolean): Uint32Array;
  /** @param special whether control tokens have a text. Incomplete UTF-8 characters become U+FFFD. */
  detokenize(tokens: Uint32Array, special: boolean): string;
  tokenBos(): number;
  tokenEos(): number;
  getTokenString(token: number): string;
  /** Whether the token ends a response. */
  isEogToken(token: number): boolean;
  shouldPrependBosToken(): boolean;
}

interface NativeContextOptions {
  /** Context length of all sequences in tokens. */
  readonly contextSize: number;
  /** Maximum tokens of a batch. */
  readonly batchSize: number;
  readonly sequences: number;
  readonly threads: number;
  readonly flashAttention: 'auto';
  /** Keeps all tokens of models with a sliding attention window, so that any prefix can be reused. */
  readonly swaFullCache: true;
}

export interface NativeContext {
  /** Allocates the key-value cache. False if there is not enough memory. */
  init(): Promise<boolean>;
  /** Starts a new batch of exactly this number of tokens. */
  initBatch(tokens: number): void;
  /**
   * Adds tokens of a sequence.
   * @param position position of the first token in the sequence.
   * @param outputs indexes of the tokens after which a token will be sampled.
   * @returns indexes of these outputs for {@link NativeContext.sampleToken}.
   */
  addToBatch(sequence: number, position: number, tokens: Uint32Array, outputs: Uint32Array): Uint32Array;
  decodeBatch(): Promise<void>;
  /** Samples a token after an output of the last batch; -1 if no token is possible. */
  sampleToken(output: number, sampler: NativeSampler): Promise<number>;
  /** Sets the number of threads of the next steps. */
  setThreads(threads: number): void;
  /** Empties a sequence. */
  disposeSequence(sequence: number): void;
  /** Removes the tokens from a position on (`to` = -1). False if the model cannot remove a part of a sequence. */
  removeTokenCellsFromSequence(sequence: number, from: number, to: -1): boolean;
  /** Replaces a sequence by a copy of another one. */
  copySequenceStateFromOtherSequence(target: number, source: number): Promise<number>;
}

export interface NativeSampler {
  applyConfig(options: NativeSampling): void;
  dispose(): void;
}

export interface NativeSampling {
  /** 0: always the most likely token. */
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly seed: number;
  /** Tokens before the response that count for the penalties. Without this list, there are no penalties. */
  readonly repeatPenaltyTokens?: Uint32Array;
  readonly repeatPenaltyMaxTokens?: number;
  readonly repeatPenaltyPresencePenalty?: number;
  readonly repeatPenaltyFrequencyPenalty?: number;
  readonly grammarEvaluationState?: NativeGrammarState;
}

export interface NativeTemplate {
  /** @throws Error for variables that the template rejects. */
  render(variables: Readonly<Record<string, unknown>>): string;
}

/** Objects that only the addon reads. */
export type NativeGrammar = object & { readonly grammar: unique symbol };
export type NativeGrammarState = object & { readonly grammarState: unique symbol };

/** Packages of the addon. */
const PACKAGES: Readonly<Record<OrtProvider, Readonly<Record<string, string>>>> = {
  cpu: {
    'linux-x64': 'linux-x64',
    'linux-arm64': 'linux-arm64',
    'darwin-arm64': 'mac-arm64-metal',
  },
  cuda: { 'linux-x64': 'linux-x64-cuda' },
};

/** `bun run setup --gpu` installs the packages for GPUs there. */
const GPU_PACKAGES = join(import.meta.dirname, '../../../../gpu/package.json');

/**
 * Loads llama.cpp for this machine.
 * @throws Error when the package, a library or a device of the provider is missing.
 */
export async function loadBinding(provider: OrtProvider): Promise<LlamaBinding> {
  const platform = `${process.platform}-${process.arch}`;
  const name = PACKAGES[provider][platform];
  if (name === undefined) throw new Error(`There is no build of llama.cpp (${provider}) for ${platform}.`);
  const binding = requireBinding(provider, name);
  // llama.cpp would write to standard error, and its messages may quote a grammar.
  binding.setLogger(() => undefined);
  await binding.init();
  if (provider === 'cuda' && binding.getGpuType() !== 'cuda') {
    throw new Error(
      'ORT_PROVIDER is cuda, but no CUDA device was found for the language model. Check the driver (nvidia-smi) or set ORT_PROVIDER=cpu.',
    );
  }
  return binding;
}

function requireBinding(provider: OrtProvider, name: string): LlamaBinding {
  const packageName = `@node-llama-cpp/${name}`;
  try {
    const require = createRequire(provider === 'cuda' ? GPU_PACKAGES : import.meta.url);
    const folder = join(dirname(require.resolve(packageName)), '..', 'bins', name);
    const binding: LlamaBinding = require(join(folder, 'llama-addon.node'));
    binding.loadBackends(folder);
    return binding;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    const problem =
      provider === 'cuda'
        ? 'ORT_PROVIDER is cuda, but the llama.cpp package for CUDA, its CUDA libraries or the driver could not be loaded (bun run setup --gpu installs the packages)'
        : 'llama.cpp could not be loaded';
    throw new Error(`${problem}: ${packageName}: ${reason}`, { cause: error });
  }
}
