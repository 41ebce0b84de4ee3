/** Environment variables of ONNX Runtime in inference processes. This module does not load the runtime. */

import type { RuntimeOptions } from './runtime-options.ts';

/**
 * Variables for an execution provider. On CUDA, the memory-efficient attention of ONNX Runtime 1.30 rejects a bias whose rows
 * are not aligned to 16 bytes ("attn_bias is not correctly aligned"), instead of selecting another kernel. This made the
 * transcription of some lengths of audio fail.
 */
export function providerEnvironment(provider: RuntimeOptions['provider']): Readonly<Record<string, string>> {
  return provider === 'cuda' ? { ORT_DISABLE_MEMORY_EFFICIENT_ATTENTION: '1' } : {};
}
