import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../config/config.ts';
import { resolveModelFiles } from '../../../models/model-files.ts';
import { speakerGraph } from './graph.ts';
import { TorchCheckpoint } from './torch-checkpoint.ts';

/** The checkpoint file. */
let file: Uint8Array;
beforeAll(async () => {
  const { 'pretrained.pt': path = '' } = resolveModelFiles(loadConfig(process.env).modelsDir, 'resemblyzer');
  file = await Bun.file(path).bytes();
});

/** Length of the pickles, without the elements after them. */
const HEAD_BYTES = 7_000;
const latin = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes);
/** Returns a copy of the file with `from` replaced by `to`, which must have the same length. */
function changed(from: string, to: string): Uint8Array {
  const offset = latin(file.subarray(0, HEAD_BYTES)).indexOf(from);
  if (offset < 0 || to.length !== from.length) throw new Error('nothing to change');
  const copy = Uint8Array.from(file);
  copy.set(
    Uint8Array.from(to, (letter) => letter.charCodeAt(0)),
    offset,
  );
  return copy;
}

describe('TorchCheckpoint', () => {
  test('has the tensors of the model', () => {
    const checkpoint = new TorchCheckpoint(file, 'model_state');
    // Reference values from PyTorch.
    expect([...checkpoint.tensor('similarity_weight', [1])].map((value) => value.toFixed(4))).toEqual([
      '70.8929',
    ]);
    expect([...checkpoint.tensor('linear.bias', [256]).slice(0, 2)].map((value) => value.toFixed(4))).toEqual(
      ['-0.0706', '-0.0812'],
    );
    expect(speakerGraph(checkpoint).length).toBeGreaterThan(5_000_000);
  });

  test('throws for unknown tensors and other dimensions', () => {
    const checkpoint = new TorchCheckpoint(file, 'model_state');
    expect(() => checkpoint.tensor('linear.bias', [128, 2])).toThrow("no tensor 'linear.bias' of [128, 2]");
    expect(() => checkpoint.tensor('nothing', [1])).toThrow("no tensor 'nothing'");
    expect(() => new TorchCheckpoint(file, 'nothing')).toThrow("no dictionary 'nothing'");
  });
});

describe('rejects', () => {
  test('a file that is not a checkpoint', () => {
    expect(() => new TorchCheckpoint(new Uint8Array(0), 'model_state')).toThrow('too short');
    expect(() => new TorchCheckpoint(Uint8Array.from([78, 46]), 'model_state')).toThrow(
      'not a PyTorch checkpoint',
    );
    expect(() => new TorchCheckpoint(Uint8Array.from([80, 75, 3, 4]), 'model_state')).toThrow('not allowed');
  });

  test('a file truncated at any position', () => {
    for (const part of [10, 100, 3_000, 6_000, 6_700, file.length - 1]) {
      expect(() => new TorchCheckpoint(file.subarray(0, part), 'model_state')).toThrow('too short');
    }
  });

  test('a file that calls other functions or contains other objects', () => {
    const load = (from: string, to: string) => () => new TorchCheckpoint(changed(from, to), 'model_state');
    expect(load('ccollections\nOrderedDict', 'ccollections\nnamedtupleX')).toThrow('is not allowed');
    expect(load('ctorch._utils\n_rebuild_tensor_v2', 'cposixpath.ab\n_rebuild_tensor_v2')).toThrow(
      'is not allowed',
    );
    expect(load('ctorch\nFloatStorage', 'ctorch\nHalf_Storage')).toThrow('is not allowed');
    expect(load('storageq', 'garbageq')).toThrow('unknown kind');
  });
});
