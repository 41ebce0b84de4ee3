import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startHubServer } from '../../test/doubles/hub-server.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';
import { openEngines } from '../../tools/harness/models/open-engines.ts';
import { loadConfig } from '../config/config.ts';
import type { ReadyReport, SttEngine } from '../contract/engines/engine.ts';
import type { TextEngine } from '../contract/engines/text.ts';
import { systemClock } from '../kit/clock.ts';
import { resolveModelFiles } from '../models/model-files.ts';
import type { LlamaModelSettings } from './llama/settings.ts';
import type { WhisperModelSettings } from './whisper/settings.ts';

/** Models of a hub that has them only later. The weights are those of the catalog. */

const real = loadConfig(process.env).modelsDir;

async function hubFiles() {
  const whisper = resolveModelFiles(real, 'whisper-tiny-en-ct2');
  const [llama = ''] = Object.values(resolveModelFiles(real, 'smollm2-135m-instruct'));
  const paths = {
    'owner/ear/resolve/main/config.json': whisper['config.json'],
    'owner/ear/resolve/main/model.bin': whisper['model.bin'],
    'owner/ear/resolve/main/tokenizer.json': whisper['tokenizer.json'],
    'owner/brain/resolve/main/weights.gguf': llama,
  };
  const files = Object.entries(paths).map(async ([path, file = '']) => [
    path,
    { bytes: await readFile(file), isLarge: !path.endsWith('config.json') },
  ]);
  return Object.fromEntries(await Promise.all(files)) as Parameters<typeof startHubServer>[0]['files'];
}

test('models of a hub that cannot be reached are unavailable, and work as soon as it can be', async () => {
  let isReachable = false;
  const hub = await startHubServer({
    files: await hubFiles(),
    intercept: (_, response) => {
      if (!isReachable) response.writeHead(404).end();
      return !isReachable;
    },
  });
  const modelsDir = await tempDir();
  await mkdir(join(modelsDir, 'sha256'));
  // The voice activity model, and the converted graphs, which depend only on the weights.
  for (const path of Object.values(resolveModelFiles(real, 'silero-vad'))) {
    await symlink(path, path.replace(real, modelsDir));
  }
  await symlink(join(real, 'imports'), join(modelsDir, 'imports'));
  const sttModels = new Map<string, WhisperModelSettings>([
    ['ear', { kind: 'whisper', weights: 'hf:owner/ear' }],
  ]);
  const textModels = new Map<string, LlamaModelSettings>([
    [
      'brain',
      {
        kind: 'llama',
        weights: 'hf:owner/brain/weights.gguf',
        slots: 1,
        contextTokens: 256,
        defaultMaxTokens: 8,
      },
    ],
  ]);
  const { slots, close } = await openEngines({
    needs: new Set(['stt', 'text'] as const),
    models: { transcription: sttModels, chat: textModels },
    modelsDir,
    inference: { provider: 'cpu', workers: 1, threads: 1, queueLimit: 64, environment: {} },
    hub: { endpoint: hub.origin, token: undefined },
    requiredModels: new Set(['brain']),
    modelRetryMs: 20,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  onTestFinished(close);
  const [ear, brain] = [slots.stt?.get('ear'), slots.text?.get('brain')] as [SttEngine, TextEngine];
  const states = () => [ear, brain].map((engine: { ready(): ReadyReport }) => engine.ready());
  await expect
    .poll(states)
    .toEqual([
      expect.objectContaining({ ready: false, detail: 'the download failed and is tried again' }),
      expect.objectContaining({ ready: false, detail: 'the download failed and is tried again' }),
    ]);
  isReachable = true;
  await expect.poll(() => states().map(({ ready }) => ready)).toEqual([true, true]);
  expect(ear.languages).toEqual(['en']);
  expect(brain.contextTokens).toBe(256);
});
