import { describe, expect, test } from 'vitest';
import { hubGguf, isLarge } from './model-file.ts';

describe('references to GGUF files', () => {
  test('have a repository and a path', () => {
    expect(hubGguf('hf:Qwen/Qwen2.5-7B-Instruct-GGUF/model-q4_k_m.gguf')).toEqual({
      repository: 'Qwen/Qwen2.5-7B-Instruct-GGUF',
      paths: ['model-q4_k_m.gguf'],
    });
    expect(hubGguf('hf:a/b/q4/model.GGUF')?.paths).toEqual(['q4/model.GGUF']);
    expect(hubGguf('smollm2-135m-instruct')).toBeUndefined();
    expect(hubGguf('/srv/model.gguf')).toBeUndefined();
  });

  test.each([
    'hf:',
    'hf:a/b',
    'hf:a/b/model.bin',
    'hf:a/../b/c.gguf',
    'hf:a/b/../c.gguf',
    'hf:a/b/c d.gguf',
    'hf:/a/b/c.gguf',
  ])('are rejected: %s', (weights) => {
    expect(() => hubGguf(weights)).toThrow('must be hf:owner/repository/file.gguf');
  });

  test('to a part of a split model are rejected', () => {
    expect(() => hubGguf('hf:a/b/model-00001-of-00003.gguf')).toThrow('split model');
  });
});

test('small weights are loaded at the start, large and unknown ones on demand', () => {
  expect(isLarge('smollm2-135m-instruct')).toBe(false);
  expect(isLarge('qwen2.5-0.5b-instruct')).toBe(true);
  expect(isLarge('hf:owner/model/weights.gguf')).toBe(true);
  // The start reports the missing file.
  expect(isLarge('/srv/missing.gguf')).toBe(false);
});
