/** Memory of the attention cache of a language model. */

import type { GgufValue } from './gguf-metadata.ts';

/** Keys and values are stored as float16. */
const BYTES_PER_VALUE = 2;

/**
 * Bytes of the key-value cache: 2 × layers × key-value heads × head dimension × 2 bytes × context tokens × slots.
 * @param metadata of the GGUF file.
 * @param contextTokens per slot; limited by the context length of the model.
 * @returns undefined if the metadata has no such values, for example for a recurrent model.
 */
export function kvCacheBytes(
  metadata: ReadonlyMap<string, GgufValue>,
  contextTokens: number,
  slots: number,
): number | undefined {
  const architecture = metadata.get('general.architecture');
  const value = (key: string): number | undefined => {
    const found = metadata.get(`${architecture}.${key}`);
    return typeof found === 'number' && found > 0 ? found : undefined;
  };
  const layers = value('block_count');
  const heads = value('attention.head_count');
  const embedding = value('embedding_length');
  if (layers === undefined || heads === undefined || embedding === undefined) return undefined;
  const kvHeads = value('attention.head_count_kv') ?? heads;
  const keyLength = value('attention.key_length') ?? embedding / heads;
  const valueLength = value('attention.value_length') ?? keyLength;
  const tokens = Math.min(contextTokens, value('context_length') ?? contextTokens);
  return layers * kvHeads * (keyLength + valueLength) * BYTES_PER_VALUE * tokens * slots;
}
