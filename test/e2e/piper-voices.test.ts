/** Piper voices of a model hub and own files on the real process, and a speech model that speaks a language through one. */

import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../server/config.ts';
import { launchService, NO_RECOGNISER, NO_TEXT, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { startHubServer } from '../doubles/hub-server.ts';
import { onPiperHub, piperFiles, withSpeakers } from '../generators/piper-voices.ts';
import { tempDir } from '../harness/temp-dir.ts';
import { inDeepTier } from '../harness/tier.ts';

const TEXT = 'Guten Morgen, es ist 12:30 Uhr.';
const VOICE = 'de_DE-thorsten-medium';
const { modelsDir: real } = loadConfig(process.env);

/** A model cache with the files of the real one, to which others can be added. */
async function cacheCopy(): Promise<string> {
  const modelsDir = await tempDir();
  for (const name of ['imports', 'sha256']) {
    await mkdir(join(modelsDir, name));
    for (const file of await readdir(join(real, name))) {
      await symlink(join(real, name, file), join(modelsDir, name, file));
    }
  }
  return modelsDir;
}

const headers = { authorization: `Bearer ${SERVICE_KEY}` };

/** A service with further models, and requests to it. */
async function launch(models: string, env: Record<string, string> = {}) {
  const service = await launchService({
    config: `
      [models.svc-tts]
      kind = "piper"
      ${models}
      ${NO_RECOGNISER}
      ${NO_TEXT}
    `,
    env: { PLUGINS: 'speech,voices', MODELS_DIR: await cacheCopy(), ...env },
  });
  onTestFinished(async () => {
    await service.stop();
  });
  const get = async (path: string) => (await service.fetch(path, { headers })).json();
  const send = (fields: object) =>
    service.fetch('/v1/audio/speech', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ input: TEXT, response_format: 'pcm', ...fields }),
    });
  const speak = async (fields: object) => {
    const response = await send(fields);
    expect(response.status, response.ok ? '' : await response.clone().text()).toBe(200);
    return new Int16Array(await response.arrayBuffer());
  };
  return { get, send, speak };
}

test('tts-1 speaks German through a Piper voice of the hub', async () => {
  const german = await piperFiles(real, { espeak: { voice: 'de' } });
  const hub = await startHubServer({ files: onPiperHub(VOICE, german, '* License: CC0\n') });
  const { get, send, speak } = await launch(
    `[models.tts-1.languages]
     de = "piper-de"
     [models.piper-de]
     kind = "piper"
     voice = "${VOICE}"`,
    { HF_ENDPOINT: hub.origin },
  );
  await expect.poll(() => get('/v1/models/piper-de')).toMatchObject({ ready: true });
  expect(await get('/v1/models/tts-1')).toMatchObject({
    engine: { kind: 'piper', languages: { de: 'piper-de' } },
  });

  const through = await speak({ model: 'tts-1', voice: 'nova', language: 'de-AT' });
  // 24 kHz, as all audio of the endpoint: the sentence with its numbers in full takes more than 1.5 seconds.
  expect(through.length / 24_000).toBeGreaterThan(1.5);
  expect(through).toEqual(await speak({ model: 'piper-de' }));
  expect(await speak({ model: 'tts-1', voice: 'nova' }), 'German is detected').toEqual(through);
  expect(await speak({ model: 'tts-1', voice: 'nova', language: 'en' })).not.toEqual(through);

  const unsupported = await send({ model: 'tts-1', voice: 'nova', language: 'fr' });
  expect(await unsupported.json()).toMatchObject({
    error: { param: 'language', message: expect.stringContaining('one of en-US, de, or unset') },
  });
});

// hub-voices.models.test.ts also tests a voice with several speakers.
inDeepTier(() => {
  test('the speakers of an own voice speak by name', async () => {
    const { graph, settings } = await piperFiles(real, {
      espeak: { voice: 'de' },
      speaker_id_map: { anna: 0, bert: 1 },
    });
    const file = join(await tempDir(), 'choir.onnx');
    await writeFile(file, withSpeakers(graph, [1, 0.25]));
    await writeFile(`${file}.json`, JSON.stringify(settings));
    const { get, speak } = await launch(
      `[models.choir]
       kind = "piper"
       voice = "${file}"
       speaker = "bert"
       voices = "presets"`,
    );
    const { data } = (await get('/v1/audio/voices?model=choir')) as { data: { id: string }[] };
    expect(data.slice(0, 3)).toMatchObject([
      { id: 'choir', language: 'de', preset: 'bert' },
      { id: 'anna' },
      { id: 'bert' },
    ]);
    const [anna, bert] = [
      await speak({ model: 'choir', voice: 'anna' }),
      await speak({ model: 'choir', voice: 'bert' }),
    ];
    expect(anna).not.toEqual(bert);
    expect(await speak({ model: 'choir' })).toEqual(bert);
  });
});
