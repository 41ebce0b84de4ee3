import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { type GgufArray, type GgufPair, ggufFile } from '../../../../test/generators/gguf-writer.ts';
import { readGgufMetadata } from './gguf-metadata.ts';

const dir = mkdtempSync(join(tmpdir(), 'gguf-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const read = (bytes: Uint8Array, signal?: AbortSignal) => {
  const path = join(dir, 'model.gguf');
  writeFileSync(path, bytes);
  return readGgufMetadata(path, signal);
};
/** Read as its number of elements. */
const vocabulary = (length: number): GgufPair => ({
  key: 'tokenizer.ggml.tokens',
  type: 'array',
  value: { of: 'string', items: Array.from({ length }, (_, index) => `token ${index}`) },
});
const name: GgufPair = { key: 'general.architecture', type: 'string', value: 'qwen2' };

describe('values', () => {
  test('of all scalar types, and texts', async () => {
    const pairs: GgufPair[] = [
      { key: 'u8', type: 'uint8', value: 255 },
      { key: 'i8', type: 'int8', value: -1 },
      { key: 'u16', type: 'uint16', value: 65_535 },
      { key: 'i16', type: 'int16', value: -2 },
      { key: 'u32', type: 'uint32', value: 4_294_967_295 },
      { key: 'i32', type: 'int32', value: -3 },
      { key: 'u64', type: 'uint64', value: 2 ** 53 - 1 },
      { key: 'i64', type: 'int64', value: -4 },
      { key: 'f32', type: 'float32', value: 0.5 },
      { key: 'f64', type: 'float64', value: 0.1 },
      { key: 'yes', type: 'bool', value: 1 },
      { key: 'no', type: 'bool', value: 0 },
      { key: 'tokenizer.chat_template', type: 'string', value: '{{ "é" }}\n' },
      { key: 'empty', type: 'string', value: '' },
    ];
    expect(Object.fromEntries(await read(ggufFile(pairs)))).toEqual({
      u8: 255,
      i8: -1,
      u16: 65_535,
      i16: -2,
      u32: 4_294_967_295,
      i32: -3,
      u64: 2 ** 53 - 1,
      i64: -4,
      f32: 0.5,
      f64: 0.1,
      yes: true,
      no: false,
      'tokenizer.chat_template': '{{ "é" }}\n',
      empty: '',
    });
  });

  test('after arrays that are longer than a chunk of the file, with their numbers of elements', async () => {
    const numbers: GgufPair = {
      key: 'scores',
      type: 'array',
      value: { of: 'uint32', items: Array.from({ length: 200_000 }, (_, index) => index) },
    };
    const nested: GgufArray = { of: 'array', items: [{ of: 'string', items: ['a'] }] };
    const pairs: GgufPair[] = [
      vocabulary(60_000),
      numbers,
      { key: 'nested', type: 'array', value: nested },
      name,
    ];
    expect(Object.fromEntries(await read(ggufFile(pairs)))).toEqual({
      'tokenizer.ggml.tokens': 60_000,
      scores: 200_000,
      nested: 1,
      'general.architecture': 'qwen2',
    });
  });

  test('of a file of version 2 with tensors after the metadata', async () => {
    const bytes = Buffer.concat([ggufFile([name], { version: 2 }), Buffer.alloc(1000, 0xff)]);
    expect([...(await read(bytes))]).toEqual([['general.architecture', 'qwen2']]);
  });
});

describe('a damaged file is rejected', () => {
  test('at any length', async () => {
    const bytes = ggufFile([vocabulary(3), name]);
    for (let length = 0; length < bytes.length; length++) {
      await expect(read(bytes.subarray(0, length))).rejects.toThrow(/truncated|not a GGUF file/);
    }
  });

  test('with another magic number or version', async () => {
    await expect(read(ggufFile([], { magic: 'ggml' }))).rejects.toThrow('not a GGUF file');
    await expect(read(ggufFile([], { version: 1 }))).rejects.toThrow('GGUF version 1 is not supported');
  });

  test('with a duplicate key', async () => {
    await expect(read(ggufFile([name, name]))).rejects.toThrow("duplicate key 'general.architecture'");
  });

  test('with any flipped byte, by an error of this module', async () => {
    const bytes = ggufFile([vocabulary(2), { key: 'x.block_count', type: 'uint32', value: 24 }, name]);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const damaged = Uint8Array.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ mask;
        const outcome = await read(damaged).catch((error: unknown) => error);
        // A damaged name or number is still a valid file.
        if (outcome instanceof Error) expect(outcome.name).toBe('GgufError');
        else expect(outcome).toBeInstanceOf(Map);
      }),
      { numRuns: 200 },
    );
  });
});

describe('limits', () => {
  test('of the number of pairs', async () => {
    await expect(read(ggufFile([], { count: 65_537n }))).rejects.toThrow('the maximum is 65536');
    await expect(read(ggufFile([], { count: 2n ** 64n - 1n }))).rejects.toThrow('the maximum is 65536');
  });

  test('of keys and texts', async () => {
    const key = 'k'.repeat(65_536);
    await expect(read(ggufFile([{ key, type: 'bool', value: 1 }]))).rejects.toThrow('maximum is 65535');
    const value = 'x'.repeat((1 << 20) + 1);
    await expect(read(ggufFile([{ key: 'k', type: 'string', value }]))).rejects.toThrow('maximum is 1048576');
    const texts = Array.from({ length: 9 }, (_, index) => `${index}`);
    const pairs = texts.map((each): GgufPair => ({ key: each, type: 'string', value: value.slice(1) }));
    await expect(read(ggufFile(pairs))).rejects.toThrow('more than 8388608 characters of text');
  });

  test('of nested arrays', async () => {
    const nest = (depth: number): GgufArray =>
      depth === 1 ? { of: 'uint32', items: [1] } : { of: 'array', items: [nest(depth - 1)] };
    const file = (depth: number) => ggufFile([{ key: 'nested', type: 'array', value: nest(depth) }, name]);
    expect((await read(file(4))).get('general.architecture')).toBe('qwen2');
    await expect(read(file(5))).rejects.toThrow('nested more than 4 levels deep');
  });

  test('of the length of the metadata: an array cannot be longer than the file', async () => {
    const bytes = Buffer.from(ggufFile([vocabulary(3)]));
    bytes.writeBigUInt64LE(2n ** 60n, bytes.indexOf('tokens') + 'tokens'.length + 8);
    await expect(read(bytes)).rejects.toThrow('truncated or damaged');
  });
});

test('stops after an abort', async () => {
  const reason = new Error('stopped');
  await expect(read(ggufFile([name]), AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('a missing file has the error of the system', async () => {
  await expect(readGgufMetadata(join(dir, 'none.gguf'))).rejects.toMatchObject({ code: 'ENOENT' });
});
