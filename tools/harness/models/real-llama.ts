import { loadConfig } from '../../../src/config/config.ts';
import type { TextEngine } from '../../../src/contract/engines/text.ts';
import { type LlamaOptions, openLlama } from '../../../src/engines/llama/host/engine.ts';
import { silentLog } from '../doubles/doubles.ts';

/** The shipped model with a small context: what is asked of it in tests is short. */
export function openSmallLlama(options: Partial<LlamaOptions> = {}): Promise<TextEngine> {
  const { modelsDir, inference } = loadConfig(process.env);
  return openLlama({
    settings: { kind: 'llama', weights: 'smollm2-135m-instruct', slots: 2, contextTokens: 512 },
    inference: { ...inference, threads: 1 },
    modelsDir,
    log: silentLog,
    ...options,
  });
}
