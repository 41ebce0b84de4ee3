/** Piper voices outside the catalog: of the model hub, with several speakers, and own files. */

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type HubServerOptions, startHubServer } from '../../../test/doubles/hub-server.ts';
import { onPiperHub, piperFiles, withSpeakers } from '../../../test/generators/piper-voices.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { inDeepTier } from '../../../test/harness/tier.ts';
import { loudnessDb } from '../../../test/media/audio-checks.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { joined } from '../../../tools/harness/media/sample-runs.ts';
import { openEngines } from '../../../tools/harness/models/open-engines.ts';
import { loadConfig } from '../../config/config.ts';
import type { TtsModelSettings } from '../../contract/core/settings.ts';
import type { SpokenWord, SynthesisRequest, TtsEngine } from '../../contract/engines/engine.ts';
import { systemClock } from '../../kit/clock.ts';
import { catalog, resolveModelFiles } from '../../models/model-files.ts';
import { ESPEAK_ENGINE } from '../espeak/shared/files.ts';
import type { PiperModelSettings } from './settings.ts';

const real = loadConfig(process.env).modelsDir;
const VOICE = 'de_DE-thorsten_emotional-medium';
const TEXT = 'Ich habe um 12:30 Uhr 42 Äpfel gekauft.';

/** A model cache with eSpeak NG only. */
async function emptyCache(): Promise<string> {
  const modelsDir = await tempDir();
  await mkdir(join(modelsDir, 'sha256'));
  const espeak = catalog.filter(({ engines }) => engines.includes(ESPEAK_ENGINE));
  for (const { id } of espeak) {
    for (const path of Object.values(resolveModelFiles(real, id))) {
      await symlink(path, path.replace(real, modelsDir));
    }
  }
  return modelsDir;
}

async function open(models: Readonly<Record<string, TtsModelSettings>>, modelsDir: string, endpoint: string) {
  const { slots, close } = await openEngines({
    needs: new Set(['tts'] as const),
    models: { speech: new Map(Object.entries(models)) },
    modelsDir,
    inference: { provider: 'cpu', workers: 1, threads: 1, queueLimit: 64, environment: {} },
    hub: { endpoint, token: undefined },
    modelRetryMs: 20,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  onTestFinished(close);
  return (id: string) => slots.tts?.get(id) as TtsEngine;
}

async function speak(engine: TtsEngine, fields: Partial<SynthesisRequest> = {}) {
  const words: SpokenWord[] = [];
  const request: SynthesisRequest = {
    text: TEXT,
    speed: 1,
    priority: 'interactive',
    fairnessKey: 'a',
    delivery: 'whole',
    onWords: (added) => words.push(...added),
    ...fields,
  };
  const chunks = await Array.fromAsync(engine.synthesize(request, new AbortController().signal));
  return { samples: joined(chunks), words };
}

const piper = (voice: string, fields: Partial<PiperModelSettings> = {}): PiperModelSettings => ({
  kind: 'piper',
  voice,
  ...fields,
});

test('a voice of a hub that cannot be reached is unavailable, and speaks with its speakers as soon as it can be', async () => {
  const { graph, settings } = await piperFiles(real, {
    espeak: { voice: 'de' },
    num_speakers: 2,
    speaker_id_map: { anna: 0, bert: 1 },
  });
  let isReachable = false;
  const intercept: HubServerOptions['intercept'] = (_, response) => {
    if (!isReachable) response.writeHead(503).end();
    return !isReachable;
  };
  const files = onPiperHub(VOICE, { graph: withSpeakers(graph, [1, 0.25]), settings });
  const hub = await startHubServer({ files, intercept });
  const engineOf = await open(
    {
      both: piper(VOICE, { voices: 'presets' }),
      bert: piper(VOICE, { speaker: 'bert' }),
      unknown: piper(VOICE, { speaker: 'carl' }),
    },
    await emptyCache(),
    hub.origin,
  );
  const [both, bert] = [engineOf('both'), engineOf('bert')];
  expect(both.ready().ready).toBe(false);
  expect([both.rateHz, both.languages, both.languageOf?.('de_AT')]).toEqual([22_050, ['de-DE'], 'de-DE']);
  expect(both.hasVoice?.('anna')).toBe(true);
  await expect(speak(both)).rejects.toMatchObject({ code: 'model_loading' });
  isReachable = true;
  both.load?.();
  await expect.poll(() => [both, bert].map((engine) => engine.ready().ready)).toEqual([true, true]);
  expect(both.voices?.slice(0, 3).map(({ id }) => id)).toEqual([VOICE, 'anna', 'bert']);
  expect(['BERT', 'carl'].map((name) => both.hasVoice?.(name))).toEqual([true, false]);
  // A speaker that the voice does not have makes only that model unavailable.
  expect(engineOf('unknown').ready().ready).toBe(false);

  const loud = await speak(both, { voiceName: 'anna' });
  const quiet = await speak(both, { voiceName: 'bert' });
  expect((await speak(both)).samples).toEqual(loud.samples);
  expect((await speak(bert)).samples).toEqual(quiet.samples);
  // The speaker changes both the latent and the volume.
  expect(loudnessDb(loud.samples) - loudnessDb(quiet.samples)).toBeGreaterThan(10);
  expect(loud.words.map(({ text }) => text).join('')).toBe(TEXT);
  expect(loud.words).toHaveLength(TEXT.split(' ').length);
});

inDeepTier(() => {
  test('an own file speaks the language of its phonemes', async () => {
    const folder = await tempDir();
    const file = join(folder, 'mine.onnx');
    const { graph, settings } = await piperFiles(real, { espeak: { voice: 'de' } });
    await writeFile(file, graph);
    await writeFile(`${file}.json`, JSON.stringify(settings));
    const letters = join(folder, 'letters.onnx');
    await writeFile(letters, graph);
    await writeFile(`${letters}.json`, JSON.stringify(Object.assign({}, settings, { phoneme_type: 'text' })));
    const modelsDir = await emptyCache();
    const engineOf = await open(
      { own: piper(file, { voices: 'presets' }), letters: piper(letters) },
      modelsDir,
      'http://127.0.0.1:9',
    );
    const own = engineOf('own');
    expect([own.languages, own.voices?.[0]?.id]).toEqual([['de'], 'mine']);
    const german = (await speak(own)).samples;
    expect(loudnessDb(german)).toBeGreaterThan(-35);
    // Three seconds of words, with the numbers read in full.
    expect(german.length / 22_050).toBeGreaterThan(2.5);
    expect((await speak(engineOf('letters'), { text: 'hallo' })).samples.length).toBeGreaterThan(1000);
  });
});

test.each([
  ['/missing/voice.onnx', {}, 'CONFIG: the file /missing/voice.onnx of a Piper voice does not exist.'],
  [
    'en_US-joe-medium',
    { speaker: 'anna' },
    "CONFIG: unknown speaker 'anna' of the Piper voice en_US-joe-medium",
  ],
])('the start fails for %s with %j', async (voice, fields, message) => {
  await expect(open({ own: piper(voice, fields) }, real, 'http://127.0.0.1:9')).rejects.toThrow(message);
});
