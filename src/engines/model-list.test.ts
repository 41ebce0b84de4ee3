import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type GgufPair, ggufFile } from '../../test/generators/gguf-writer.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import type { ModelSettings } from '../contract/core/settings.ts';
import { sha256 } from '../kit/storage/content-hash.ts';
import { hubRecordPath } from '../models/hub-reference.ts';
import { cachedFilePath, entriesForEngines } from '../models/model-files.ts';
import { ESPEAK_ENGINE } from './espeak/shared/files.ts';
import { modelTables as models } from './family.ts';
import type { KokoroModelSettings } from './kokoro/settings.ts';
import type { LlamaModelSettings } from './llama/settings.ts';
import { describeModels, modelFilesById } from './model-list.ts';

const GGUF = ggufFile([
  { key: 'general.architecture', type: 'string', value: 'llama' },
  ...['block_count', 'attention.head_count', 'embedding_length'].map(
    (key): GgufPair => ({ key: `llama.${key}`, type: 'uint32', value: 4 }),
  ),
]);
/** 2 × 4 layers × 4 heads × head dimension 1 × 2 bytes × 100 tokens × 3 slots. */
const CACHE_BYTES = 19_200;
const llama = (weights: string): LlamaModelSettings => ({
  kind: 'llama',
  slots: 3,
  contextTokens: 100,
  defaultMaxTokens: 100,
  weights,
});
test('catalog entries with the model ids that use them', async () => {
  const modelsDir = await tempDir();
  const ttsModels = new Map<string, KokoroModelSettings>([
    ['speaker', { kind: 'kokoro', voice: 'af_heart' }],
  ]);
  const textModels = new Map<string, ModelSettings>([['chat', llama('smollm2-135m-instruct')]]);
  const listed = await describeModels(models({ speech: ttsModels, chat: textModels }), [], modelsDir);
  const users = new Map(listed.map(({ id, usedBy }) => [id, usedBy]));
  expect(users.get('kokoro-voices')).toEqual(['speaker']);
  expect(users.get('smollm2-135m-instruct')).toEqual(['chat']);
  expect(users.get('silero-vad')).toEqual(['voice activity detection']);
  expect(users.get('smart-turn-v3.2')).toEqual(['end-of-turn detection']);
  expect(users.get('resemblyzer')).toEqual([]);
  expect(users.get('piper-en-us-joe')).toEqual([]);
  expect(listed.find(({ id }) => id === 'smollm2-135m-instruct')).toMatchObject({
    bytes: 98_362_432,
    licence: 'Apache-2.0',
    isOnDisk: false,
    memoryBytes: [98_362_432],
  });
  const withVoices = await describeModels(models({}), undefined, modelsDir);
  expect(withVoices.find(({ id }) => id === 'resemblyzer')?.usedBy).toEqual(['stored voices']);
});

test('a file of the operator, with the memory of its weights and its cache', async () => {
  const modelsDir = await tempDir();
  const path = join(modelsDir, 'own.gguf');
  await writeFile(path, GGUF);
  const listed = await describeModels(models({ chat: new Map([['own', llama(path)]]) }), [], modelsDir);
  expect(listed.at(-1)).toEqual({
    id: path,
    source: 'a file of this machine',
    bytes: GGUF.length,
    licence: undefined,
    usedBy: ['own'],
    isOnDisk: true,
    memoryBytes: [GGUF.length, CACHE_BYTES],
  });
});

test('a file of the model hub, before and after the download', async () => {
  const modelsDir = await tempDir();
  const weights = 'hf:owner/model/weights.gguf';
  const describe = async () =>
    (await describeModels(models({ chat: new Map([['hub', llama(weights)]]) }), [], modelsDir)).at(-1);
  const common = { id: weights, source: 'repository owner/model', licence: undefined, usedBy: ['hub'] };
  expect(await describe()).toEqual({
    ...common,
    bytes: undefined,
    isOnDisk: false,
    memoryBytes: undefined,
  });

  const record = { bytes: GGUF.length, sha256: sha256(GGUF) };
  for (const [path, content] of [
    [hubRecordPath(modelsDir, 'owner/model', 'weights.gguf'), JSON.stringify(record)],
    [cachedFilePath(modelsDir, record.sha256), GGUF],
  ] as const) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  expect(await describe()).toEqual({
    ...common,
    bytes: GGUF.length,
    isOnDisk: true,
    memoryBytes: [GGUF.length, CACHE_BYTES],
  });
});

test('the files of each model id, with the sum of their sizes and all licences', async () => {
  const modelsDir = await tempDir();
  const path = join(modelsDir, 'own.gguf');
  await writeFile(path, GGUF);
  const remote = { kind: 'upstream', baseUrl: 'http://127.0.0.1:9/v1' };
  const textModels = new Map<string, ModelSettings>([
    ['own', llama(path)],
    ['hub', llama('hf:owner/model/weights.gguf')],
    ['remote', remote],
  ]);
  const ttsModels = new Map<string, KokoroModelSettings>([
    ['speaker', { kind: 'kokoro', voice: 'af_heart' }],
  ]);
  // One file for each platform, with its own size.
  const espeakBytes = entriesForEngines([ESPEAK_ENGINE])[0]?.files[0]?.bytes ?? 0;
  expect(await modelFilesById(models({ speech: ttsModels, chat: textModels }), [], modelsDir)).toEqual(
    new Map([
      [
        'speaker',
        {
          sizeBytes: 394_581_725 + espeakBytes,
          licence: 'Apache-2.0 AND MIT AND BSD-3-Clause AND GPL-3.0-or-later',
        },
      ],
      ['own', { sizeBytes: GGUF.length, memoryBytes: GGUF.length + CACHE_BYTES }],
      ['hub', {}],
    ]),
  );
});
