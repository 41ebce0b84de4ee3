import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../src/kit/storage/content-hash.ts';
import { tempDir } from '../test/harness/temp-dir.ts';
import {
  HUB_WHISPER_WEIGHTS,
  hubGguf,
  hubPiper,
  hubRecord,
  hubRecordPath,
  hubWhisper,
  isPiperFile,
  piperLicence,
} from './hub-reference.ts';
import { cachedFilePath } from './model-files.ts';

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

describe('references to Whisper checkpoints', () => {
  test('are names of faster-whisper or repositories', () => {
    const paths = ['config.json', 'model.bin', 'tokenizer.json'];
    expect(hubWhisper('small')).toEqual({ repository: 'Systran/faster-whisper-small', paths });
    expect(hubWhisper('hf:owner/own-whisper-ct2')).toEqual({ repository: 'owner/own-whisper-ct2', paths });
    expect(hubWhisper('base')).toBeUndefined();
    expect(hubWhisper('/srv/folder')).toBeUndefined();
    expect(HUB_WHISPER_WEIGHTS).toContain('large-v3-turbo');
  });

  test('are rejected with a file', () => {
    expect(() => hubWhisper('hf:owner/repository/model.bin')).toThrow('must be hf:owner/repository');
  });
});

test('a damaged record counts as missing', async () => {
  const modelsDir = await tempDir();
  const path = hubRecordPath(modelsDir, 'a/b', 'c.gguf');
  await mkdir(dirname(path), { recursive: true });
  for (const content of ['', '[]', '{"bytes": 1}', '{"bytes": 1, "sha256": "../../etc/passwd"}']) {
    await writeFile(path, content);
    expect(hubRecord(modelsDir, 'a/b', 'c.gguf')).toBeUndefined();
  }
  const sha256 = 'a'.repeat(64);
  await writeFile(path, JSON.stringify({ bytes: 1, sha256 }));
  expect(hubRecord(modelsDir, 'a/b', 'c.gguf')).toEqual({ name: 'c.gguf', bytes: 1, sha256 });
});

describe('names of Piper voices', () => {
  test.each([
    ['de_DE-thorsten-medium', 'de/de_DE/thorsten/medium'],
    ['en_GB-southern_english_female-low', 'en/en_GB/southern_english_female/low'],
    ['es_MX-claude-high', 'es/es_MX/claude/high'],
    ['nl_NL-mls_5809-x_low', 'nl/nl_NL/mls_5809/x_low'],
  ])('%s is in the folder %s', (voice, folder) => {
    expect(hubPiper(voice)).toEqual({
      repository: 'rhasspy/piper-voices',
      paths: [`${folder}/${voice}.onnx`, `${folder}/${voice}.onnx.json`],
      optionalPaths: [`${folder}/MODEL_CARD`],
    });
  });

  test.each([
    '',
    'thorsten',
    'de-thorsten-medium',
    'de_DE-thorsten',
    'de_DE-thorsten-best',
    'de_DE-../x-medium',
  ])('%j is none', (voice) => expect(hubPiper(voice)).toBeUndefined());

  test('are distinguished from files', () => {
    expect(['/srv/v.onnx', '/srv/v', 'v.onnx', 'de_DE-a-low'].map(isPiperFile)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test.each([
    ['# Model card\n\n* URL: https://x\n* License: CC0\n', 'CC0'],
    ['## Dataset\n  - Licence : Apache-2.0 \n', 'Apache-2.0'],
    ['* Speakers: 1', undefined],
  ])('have the licence of their card: %j', async (card, licence) => {
    const modelsDir = await tempDir();
    const files = hubPiper('de_DE-thorsten-medium');
    const [path = ''] = files?.optionalPaths ?? [];
    expect(files && piperLicence(modelsDir, files)).toBeUndefined();
    const record = { bytes: card.length, sha256: sha256(card) };
    for (const [file, content] of [
      [hubRecordPath(modelsDir, 'rhasspy/piper-voices', path), JSON.stringify(record)],
      [cachedFilePath(modelsDir, record.sha256), card],
    ] as const) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    expect(files && piperLicence(modelsDir, files)).toBe(licence);
  });
});
