/** Opens a generator: loads the model and allocates the key-value cache of its sequences. */

import { systemClock } from '../../../kit/clock.ts';
import type { LoadedLlama, LoadLlama } from '../shared/protocol.ts';
import { LlamaGenerator } from './generator.ts';
import { type LlamaModel, loadLlamaModel } from './model.ts';
import type { NativeContext } from './native.ts';

/** Maximum prompt tokens of a step. llama.cpp allocates memory for the outputs of all of them. */
const MAX_PROMPT_TOKENS = { cpu: 128, cuda: 512 } as const;
/** Tokens with which the speed is measured. */
const MEASURED_TOKENS = 32;

export interface OpenedGenerator {
  readonly model: LlamaModel;
  readonly generator: LlamaGenerator;
  readonly loaded: LoadedLlama;
}

/** @throws Error for a model that cannot be loaded, or too little memory. */
export async function openGenerator(load: LoadLlama): Promise<OpenedGenerator> {
  const { provider, slots, threads } = load;
  const model = await loadLlamaModel({ file: load.model, provider, chatTemplate: load.chatTemplate });
  const contextTokens = Math.min(load.contextTokens, model.trainedTokens ?? load.contextTokens);
  const maxPromptTokens = MAX_PROMPT_TOKENS[provider];
  const context = new model.binding.AddonContext(model.native, {
    contextSize: contextTokens * slots,
    // Every other sequence may add one token to a step.
    batchSize: maxPromptTokens + slots,
    sequences: slots,
    threads,
    flashAttention: 'auto',
    swaFullCache: true,
  });
  if (!(await context.init())) throw new Error('There is not enough memory for the context.');
  const tokenMs = await measureTokenMs(model, context);
  const generator = new LlamaGenerator({ model, context, sequences: slots, maxPromptTokens, tokenMs });
  const { toolCallSyntax } = model.template;
  return { model, generator, loaded: { contextTokens, toolCallSyntax, tokenMs } };
}

/** Measures the evaluation time of a prompt token in ms. */
async function measureTokenMs(model: LlamaModel, context: NativeContext): Promise<number> {
  const [token = 0] = model.tokenize('a');
  const tokens = new Uint32Array(MEASURED_TOKENS).fill(token);
  let tokenMs = 0;
  // The first run reads the weights from the disk.
  for (const _run of ['warm-up', 'measured']) {
    const startMs = systemClock.monotonicMs();
    context.initBatch(tokens.length);
    context.addToBatch(0, 0, tokens, Uint32Array.of(tokens.length - 1));
    await context.decodeBatch();
    context.disposeSequence(0);
    tokenMs = (systemClock.monotonicMs() - startMs) / tokens.length;
  }
  return tokenMs;
}
