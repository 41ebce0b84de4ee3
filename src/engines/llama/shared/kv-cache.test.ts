import { expect, test } from 'vitest';
import { kvCacheBytes } from './kv-cache.ts';

const metadata = (values: Readonly<Record<string, number>>) =>
  new Map<string, string | number>([
    ['general.architecture', 'qwen2'],
    ...Object.entries(values).map(([key, value]): [string, number] => [`qwen2.${key}`, value]),
  ]);
const qwen = {
  block_count: 24,
  'attention.head_count': 14,
  'attention.head_count_kv': 2,
  embedding_length: 896,
  context_length: 32_768,
};

test('2 × layers × key-value heads × head dimension × 2 bytes × tokens × slots', () => {
  expect(kvCacheBytes(metadata(qwen), 8192, 2)).toBe(2 * 24 * 2 * 64 * 2 * 8192 * 2);
});

test('the context is limited by the model', () => {
  expect(kvCacheBytes(metadata({ ...qwen, context_length: 1024 }), 8192, 1)).toBe(2 * 24 * 2 * 64 * 2 * 1024);
});

test('every head has its own keys without grouped attention', () => {
  const { 'attention.head_count_kv': _, ...values } = qwen;
  expect(kvCacheBytes(metadata(values), 100, 1)).toBe(2 * 24 * 14 * 64 * 2 * 100);
});

test('head dimensions that differ from the embedding', () => {
  const values = { ...qwen, 'attention.key_length': 128, 'attention.value_length': 32 };
  expect(kvCacheBytes(metadata(values), 100, 1)).toBe(24 * 2 * (128 + 32) * 2 * 100);
});

test('unknown without the values', () => {
  expect(kvCacheBytes(metadata({ block_count: 24 }), 100, 1)).toBeUndefined();
  expect(kvCacheBytes(new Map(), 100, 1)).toBeUndefined();
});
