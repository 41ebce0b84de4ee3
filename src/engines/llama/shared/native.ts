/**
 * The only importer of the native llama.cpp binding. Its JavaScript wrapper is not used, because it silently falls back to
 * another variant.
 */

import { createRequire } from 'node:module';
import type { OrtProvider } from '../../../contract/core/settings.ts';

/** The used subset of `LlamaContext` of @fugood/llama.node (lib/binding.ts). */
export interface NativeContext {
  getModelInfo(): NativeModelInfo;
  getUsedDevices(): readonly string[];
  /** @throws Error for messages that the template does not support. */
  getFormattedChat(
    messages: readonly NativeMessage[],
    template: string | undefined,
    options: NativeChatOptions,
  ): NativeChat | string;
  tokenize(text: string): Promise<{ readonly tokens: Int32Array }>;
  enableParallelMode(options: { readonly n_parallel: number; readonly n_batch: number }): boolean;
  /** Calls back with each token that completes a character, then with the result. After a cancel, there are no callbacks. */
  queueCompletion(
    options: NativeCompletion,
    callback: (error: unknown, event: NativeToken | NativeResult) => void,
  ): { readonly requestId: number };
  cancelRequest(requestId: number): void;
  getParallelStatus(): {
    readonly requests: readonly NativeProgress[];
  };
}

export interface NativeProgress {
  readonly request_id: number;
  readonly prompt_length: number;
  readonly tokens_generated: number;
}

/** A message in OpenAI's format. */
export interface NativeMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly tool_calls?: readonly NativeCall[];
  readonly tool_call_id?: string;
}

export interface NativeCall {
  readonly id: string;
  readonly type: 'function';
  /** @property arguments JSON. */
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface NativeTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

export interface NativeModelInfo {
  readonly chatTemplates: {
    readonly llamaChat: boolean;
    readonly jinja: { readonly default: boolean };
  };
  readonly metadata: Readonly<Record<string, string>>;
}

export interface NativeChatOptions {
  readonly jinja: boolean;
  readonly add_generation_prompt: boolean;
  readonly enable_thinking: boolean;
  readonly tools?: readonly NativeTool[];
  readonly tool_choice?: 'auto';
  readonly parallel_tool_calls?: true;
}

export interface NativeChat {
  readonly prompt: string;
}

export interface NativeCompletion {
  readonly prompt: string;
  readonly n_predict: number;
  readonly temperature: number;
  readonly top_k: number;
  readonly top_p: number;
  readonly min_p: number;
  /** Random if undefined. */
  readonly seed?: number;
  readonly penalty_last_n: number;
  readonly penalty_present: number;
  readonly penalty_freq: number;
  /** Disables the repetition penalty that the binding enables by default. */
  readonly dry_multiplier: 0;
  /** GBNF. An invalid grammar terminates the process. */
  readonly grammar?: string;
  readonly stop: readonly string[];
}

export interface NativeToken {
  readonly token: string;
}

export interface NativeResult {
  readonly stopped_eos: boolean;
  readonly stopped_word: boolean;
  readonly stopped_limit: boolean;
  readonly context_full: boolean;
  readonly tokens_predicted: number;
  readonly timings: { readonly cache_n: number; readonly prompt_n: number; readonly prompt_ms: number };
}

export interface NativeModelOptions {
  readonly model: string;
  /** Total context length of all slots. */
  readonly n_ctx: number;
  readonly n_parallel: number;
  readonly n_threads: number;
  readonly n_gpu_layers: number;
  readonly ctx_shift: false;
}

interface NativeModule {
  readonly LlamaContext: {
    new (options: NativeModelOptions): NativeContext;
  };
}

const ALL_LAYERS = 999;
const MAGIC = 'GGUF';

/**
 * Loads a model, which blocks the thread. A corrupted file may terminate the process.
 * @throws Error when the library or a device of the provider is missing, or the file is not in GGUF format.
 */
export async function loadNative(
  provider: OrtProvider,
  options: Omit<NativeModelOptions, 'n_gpu_layers' | 'ctx_shift'>,
): Promise<NativeContext> {
  const { LlamaContext } = loadModule(provider);
  const magic = await Bun.file(options.model).slice(0, MAGIC.length).text();
  if (magic !== MAGIC) throw new Error(`${options.model} is not a GGUF file.`);
  const layers = provider === 'cuda' ? ALL_LAYERS : 0;
  const context = new LlamaContext({ ...options, n_gpu_layers: layers, ctx_shift: false });
  if (provider === 'cuda' && !context.getUsedDevices().some((name) => name.startsWith('CUDA'))) {
    throw new Error(
      'ORT_PROVIDER is cuda, but no CUDA device was found for the language model. Check the driver (nvidia-smi) or set ORT_PROVIDER=cpu.',
    );
  }
  return context;
}

function loadModule(provider: OrtProvider): NativeModule {
  const name = `@fugood/node-llama-${process.platform}-${process.arch}${provider === 'cuda' ? '-cuda' : ''}`;
  try {
    // Resolved from the package that depends on it.
    return createRequire(import.meta.resolve('@fugood/llama.node/package.json'))(name);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    const problem =
      provider === 'cuda'
        ? 'ORT_PROVIDER is cuda, but the llama.cpp package for CUDA, the CUDA 12 libraries (libcudart, libcublas, libnccl) or the driver could not be loaded'
        : `There is no build of llama.cpp for ${process.platform} on ${process.arch}`;
    throw new Error(`${problem}: ${name}: ${reason}`, { cause: error });
  }
}
