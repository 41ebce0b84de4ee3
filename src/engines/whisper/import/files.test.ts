import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { loadConfig } from '../../../config/config.ts';
import { sha256 } from '../../../kit/storage/content-hash.ts';
import { hubRecordPath } from '../../../models/hub-reference.ts';
import { cachedFilePath } from '../../../models/model-files.ts';
import { whisperFiles } from './files.ts';

const { modelsDir } = loadConfig(process.env);

const CONFIG = {
  model_type: 'whisper',
  num_mel_bins: 128,
  decoder_layers: 4,
  decoder_attention_heads: 20,
  d_model: 1280,
  max_target_positions: 448,
  vocab_size: 51_866,
};

/** Creates a folder with these empty files, a config.json and a tokenizer.json. */
async function folderOf(names: readonly string[], config: object = CONFIG): Promise<string> {
  const folder = await tempDir();
  for (const name of [...names, 'tokenizer.json']) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), '');
  }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  return folder;
}

/** Returns the names of the selected graphs of a folder, the encoder first. */
async function selectedGraphs(...names: string[]): Promise<string[]> {
  const folder = await folderOf(names);
  const files = await whisperFiles(modelsDir, folder);
  if (files.kind !== 'optimum') throw new Error(`resolved as ${files.kind}`);
  const { encoder, decoder } = files.graphs;
  return [encoder, ...Object.values(decoder)].map((path) => path.slice(folder.length + 1));
}

describe('graphs of an export', () => {
  const whole = ['encoder_model.onnx', 'decoder_model.onnx', 'decoder_with_past_model.onnx'];

  test.each([
    ['two decoders', whole, whole],
    [
      'a merged decoder before two decoders',
      [...whole, 'decoder_model_merged.onnx'],
      [whole[0], 'decoder_model_merged.onnx'],
    ],
    [
      'unquantised weights before others',
      [
        'encoder_model_quantized.onnx',
        'encoder_model.onnx',
        'decoder_model_merged_q4.onnx',
        'decoder_model_merged.onnx',
      ],
      ['encoder_model.onnx', 'decoder_model_merged.onnx'],
    ],
    [
      'different data types of encoder and decoder',
      ['encoder_model_fp16.onnx', 'decoder_model_merged_q4.onnx'],
      ['encoder_model_fp16.onnx', 'decoder_model_merged_q4.onnx'],
    ],
    [
      'two decoders of the same data type',
      [
        'encoder_model.onnx',
        'decoder_model.onnx',
        'decoder_model_int8.onnx',
        'decoder_with_past_model_int8.onnx',
      ],
      ['encoder_model.onnx', 'decoder_model_int8.onnx', 'decoder_with_past_model_int8.onnx'],
    ],
    [
      'graphs in the subfolder onnx',
      ['onnx/encoder_model_quantized.onnx', 'onnx/decoder_model_merged_quantized.onnx'],
      ['onnx/encoder_model_quantized.onnx', 'onnx/decoder_model_merged_quantized.onnx'],
    ],
  ])('%s', async (_, names, expected) => {
    expect(await selectedGraphs(...names)).toEqual(expected as string[]);
  });

  test('have the sizes of config.json', async () => {
    const files = await whisperFiles(modelsDir, await folderOf(whole));
    expect(files).toMatchObject({
      kind: 'optimum',
      graphs: { shape: { width: 1280, heads: 20, decoderLayers: 4, melBands: 128, textPositions: 448 } },
    });
  });

  test.each([
    [{ model_type: 'bart' }, /config\.json is not a Whisper model's: model_type must be "whisper"\./],
    [{ num_mel_bins: 96 }, /num_mel_bins must be one of 80, 128\./],
    [{ decoder_layers: undefined }, /decoder_layers is required/],
    [{ d_model: 1.5 }, /d_model must be/],
  ])('are rejected with %j', async (invalid, message) => {
    const folder = await folderOf(whole, { ...CONFIG, ...invalid });
    await expect(whisperFiles(modelsDir, folder)).rejects.toThrow(message);
  });
});

describe('a folder', () => {
  test('with a checkpoint is a checkpoint, regardless of other files', async () => {
    const names = ['model.bin', 'encoder_model.onnx', 'decoder_model_merged.onnx'];
    const folder = await folderOf(names, { ...CONFIG, alignment_heads: [[3, 1]] });
    expect(await whisperFiles(modelsDir, folder)).toMatchObject({
      kind: 'ctranslate2',
      tokenizer: join(folder, 'tokenizer.json'),
      source: { checkpoint: join(folder, 'model.bin'), alignmentHeads: [[3, 1]] },
    });
  });

  test('with neither is rejected with the missing files of both', async () => {
    const folder = await folderOf(['decoder_model.onnx']);
    await expect(whisperFiles(modelsDir, folder)).rejects.toThrow(
      `CONFIG: the folder ${folder} does not contain a Whisper model. Missing for a CTranslate2 checkpoint: ` +
        'model.bin; for an ONNX export of Optimum: encoder_model.onnx, decoder_model_merged.onnx ' +
        '(or decoder_model.onnx and decoder_with_past_model.onnx).',
    );
  });

  test('that does not exist is rejected with all files', async () => {
    const folder = join(await tempDir(), 'none');
    await expect(whisperFiles(modelsDir, folder)).rejects.toThrow(
      /checkpoint: model\.bin, config\.json, tokenizer\.json; .* config\.json, tokenizer\.json\.$/,
    );
  });
});

test('a name of the catalog resolves to its checkpoint', async () => {
  expect(await whisperFiles(modelsDir, 'tiny.en')).toMatchObject({
    kind: 'ctranslate2',
    source: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), alignmentHeads: expect.any(Array) },
  });
});

test('a repository of the model hub, by its name or by that of faster-whisper', async () => {
  const hubDir = await tempDir();
  await expect(whisperFiles(hubDir, 'small')).rejects.toThrow('Run `bun run models fetch small`');
  const contents = { 'config.json': '{}', 'model.bin': 'weights', 'tokenizer.json': '{"version": 1}' };
  for (const [name, content] of Object.entries(contents)) {
    const record = JSON.stringify({ bytes: content.length, sha256: sha256(content) });
    await Bun.write(hubRecordPath(hubDir, 'Systran/faster-whisper-small', name), record);
    await Bun.write(cachedFilePath(hubDir, sha256(content)), content);
  }
  for (const weights of ['small', 'hf:Systran/faster-whisper-small']) {
    expect(await whisperFiles(hubDir, weights)).toMatchObject({
      kind: 'ctranslate2',
      tokenizer: cachedFilePath(hubDir, sha256(contents['tokenizer.json'])),
      source: {
        checkpoint: cachedFilePath(hubDir, sha256('weights')),
        sha256: sha256('weights'),
      },
    });
  }
});
