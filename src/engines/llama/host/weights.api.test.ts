import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHubServer } from '../../../../test/doubles/hub-server.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { fetchProgress } from '../../../models/fetch-progress.ts';
import { llamaFile } from '../shared/model-file.ts';
import { llamaWeights } from './weights.ts';

test('weights of the model hub are downloaded to the path that the engine reads', async () => {
  const bytes = new Uint8Array(1000).fill(7);
  const { origin } = await startHubServer({
    files: { 'owner/model/resolve/main/weights.gguf': { bytes, isLarge: true } },
  });
  const modelsDir = await tempDir();
  const name = 'hf:owner/model/weights.gguf';
  const weights = llamaWeights(name, modelsDir, { endpoint: origin, token: undefined });
  expect(weights.isOnDisk()).toBe(false);
  expect(() => llamaFile(name, modelsDir)).toThrow(`Run \`bun run models fetch ${name}\``);
  const progress = fetchProgress(
    () => undefined,
    () => 0,
  );
  await weights.fetch(new AbortController().signal, progress);
  expect(weights.isOnDisk()).toBe(true);
  expect(await Bun.file(llamaFile(name, modelsDir)).bytes()).toEqual(bytes);
  expect(progress.doneBytes).toBe(1000);
});

test('a file of the operator needs no download', async () => {
  const modelsDir = await tempDir();
  const path = join(modelsDir, 'own.gguf');
  await Bun.write(path, 'GGUF');
  const weights = llamaWeights(path, modelsDir, { endpoint: 'http://127.0.0.1:1', token: undefined });
  expect(weights.isOnDisk()).toBe(true);
  const progress = fetchProgress(
    () => undefined,
    () => 0,
  );
  await weights.fetch(new AbortController().signal, progress);
  expect(progress.totalBytes).toBeUndefined();
});
