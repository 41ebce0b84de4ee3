/** Opens a generator: loads the model and allocates the key-value cache of its sequences. */

import { systemClock } from '../../../kit/clock.ts';
import type { LoadedLlama, LoadLlama } from '../shared/protocol.ts';
import { readCudaDriver, unusableGpu } from './cuda-driver.ts';
import { LlamaGenerator, type StepSpeed } from './generator.ts';
import { type LlamaModel, loadLlamaModel } from './model.ts';
import type { NativeContext } from './native.ts';
import { MAX_PADDING, TOKEN_BLOCK } from './step-plan.ts';

/** Maximum prompt tokens of a step. llama.cpp allocates memory for the outputs of all of them. */
const MAX_PROMPT_TOKENS = { cpu: 128, cuda: 512 } as const;
/** Tokens with which the speed is measured. */
const MEASURED_TOKENS = 32;
/** A padded step must take at most this share of the time. */
const MIN_SAVING = 0.95;
/** The first run reads the weights from the disk. */
const SPEED_RUNS = 2;

export interface OpenedGenerator {
  readonly model: LlamaModel;
  readonly generator: LlamaGenerator;
  readonly loaded: LoadedLlama;
}

/** @throws Error for a model that cannot be loaded, or too little memory. */
export async function openGenerator(load: LoadLlama): Promise<OpenedGenerator> {
  const { slots, threads } = load;
  const unusable = load.provider === 'cuda' ? unusableCuda() : undefined;
  const provider = unusable === undefined ? load.provider : 'cpu';
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
  const speed = await measureSpeed(model, context);
  const generator = new LlamaGenerator({
    model,
    context,
    sequences: slots,
    contextTokens,
    maxPromptTokens,
    threads,
    speed,
  });
  const { toolCallSyntax } = model.template;
  const { tokenBounds } = model;
  const loaded = {
    contextTokens,
    toolCallSyntax,
    tokenMs: speed.tokenMs,
    tokenBounds,
    provider,
    providerProblem: unusable,
  };
  return { model, generator, loaded };
}

/** @returns why llama.cpp cannot use the GPUs; undefined if it can, or reports the problem itself. */
function unusableCuda(): string | undefined {
  const driver = readCudaDriver();
  return driver && unusableGpu(driver);
}

/** Measures the speed of steps with one token and with a prompt: the fastest of several runs. */
async function measureSpeed(model: LlamaModel, context: NativeContext): Promise<StepSpeed> {
  const [token = 0] = model.tokenize('a');
  let isReversible = false;
  const fastestMs = async (tokens: number): Promise<number> => {
    let fastest = Number.POSITIVE_INFINITY;
    for (let run = 0; run < SPEED_RUNS; run += 1) {
      const startMs = systemClock.monotonicMs();
      context.initBatch(tokens);
      context.addToBatch(0, 0, new Uint32Array(tokens).fill(token), Uint32Array.of(tokens - 1));
      await context.decodeBatch();
      fastest = Math.min(fastest, systemClock.monotonicMs() - startMs);
      isReversible = context.removeTokenCellsFromSequence(0, tokens >> 1, -1);
      context.disposeSequence(0);
    }
    return fastest;
  };
  const tokenMs = (await fastestMs(MEASURED_TOKENS)) / MEASURED_TOKENS;
  const isFullFaster =
    (await fastestMs(TOKEN_BLOCK)) < MIN_SAVING * (await fastestMs(TOKEN_BLOCK - MAX_PADDING));
  return { tokenMs, stepMs: await fastestMs(1), padsSteps: isReversible && isFullFaster };
}
