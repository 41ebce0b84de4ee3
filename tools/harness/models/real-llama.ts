import { loadConfig } from '../../../server/config.ts';
import type { TextEngine } from '../../../src/contract/engines/text.ts';
import { type LlamaOptions, openLlama } from '../../../src/engines/llama/host/engine.ts';
import { silentLog } from '../doubles/doubles.ts';

/** Opens the default model with a small context, because prompts of tests are short. */
export function openSmallLlama(options: Partial<LlamaOptions> = {}): Promise<TextEngine> {
  const { modelsDir, inference } = loadConfig(process.env);
  return openLlama({
    settings: {
      kind: 'llama',
      weights: 'smollm2-135m-instruct',
      slots: 2,
      contextTokens: 512,
      defaultMaxTokens: 512,
    },
    inference,
    modelsDir,
    log: silentLog,
    ...options,
  });
}
