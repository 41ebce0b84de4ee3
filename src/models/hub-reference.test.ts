import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { sha256 } from '../kit/storage/content-hash.ts';
import {
  type HubFiles,
  hubFile,
  hubLicence,
  hubRecord,
  hubRecordPath,
  hubRepository,
} from './hub-reference.ts';
import { cachedFilePath } from './model-files.ts';

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

test('references name a repository, or a file of one', () => {
  expect(hubRepository('hf:owner/name')).toBe('owner/name');
  expect(hubRepository('hf:owner/name/file')).toBeUndefined();
  expect(hubFile('hf:owner/name/a/b.bin')).toEqual({ repository: 'owner/name', path: 'a/b.bin' });
  expect(['hf:owner/name', 'hf:a/../b/c', 'owner/name/file'].map(hubFile)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([
  ['# Model card\n\n* URL: https://x\n* License: CC0\n', 'CC0'],
  ['## Dataset\n  - Licence : Apache-2.0 \n', 'Apache-2.0'],
  ['* Speakers: 1', undefined],
])('a model has the licence of its card: %j', async (card, licence) => {
  const modelsDir = await tempDir();
  const files: HubFiles = { repository: 'a/b', paths: ['v.onnx'], optionalPaths: ['MODEL_CARD'] };
  expect(hubLicence(modelsDir, files)).toBeUndefined();
  const record = { bytes: card.length, sha256: sha256(card) };
  for (const [file, content] of [
    [hubRecordPath(modelsDir, 'a/b', 'MODEL_CARD'), JSON.stringify(record)],
    [cachedFilePath(modelsDir, record.sha256), card],
  ] as const) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  expect(hubLicence(modelsDir, files)).toBe(licence);
});
