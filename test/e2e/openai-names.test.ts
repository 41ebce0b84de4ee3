/** OpenAI's model and voice names on the real process, with real models. */

import OpenAI from 'openai';
import { beforeAll, describe, expect, test } from 'vitest';
import { wavHeader } from '../../src/audio/wav.ts';
import { wordErrors } from '../../tools/harness/media/transcript-normalizer.ts';
import type { ServiceAccess } from '../../tools/harness/services/launcher.ts';
import { embeddedService } from '../harness/group-servers.ts';
import { repetitions } from '../harness/tier.ts';

const TEXT = 'Leave your umbrella by the door.';
/** In the default tier, speech-formats.test.ts speaks with tts-1. */
const NAMES: readonly (readonly [model: string, voice: string])[] = [
  ['gpt-4o-mini-tts', 'Onyx'],
  ['kokoro', 'af_bella(2)+am_adam(1)'],
  ['tts-1', 'nova'],
];
const RATE_HZ = 24_000;

let service: ServiceAccess;
let client: OpenAI;
beforeAll(async () => {
  service = await embeddedService();
  client = new OpenAI({ baseURL: `${service.baseUrl}/v1`, apiKey: service.key });
});

async function get(path: string): Promise<unknown> {
  const response = await service.fetch(path, { headers: { authorization: `Bearer ${service.key}` } });
  expect(response.status).toBe(200);
  return response.json();
}

async function speak(model: string, voice: string, input = TEXT): Promise<Uint8Array<ArrayBuffer>> {
  const speech = await client.audio.speech.create({ model, voice, input, response_format: 'pcm' });
  return new Uint8Array(await speech.arrayBuffer());
}

async function heard(pcm: Uint8Array<ArrayBuffer>): Promise<string> {
  const file = new File([wavHeader(pcm.length, RATE_HZ), pcm], 'speech.wav');
  return (await client.audio.transcriptions.create({ model: 'whisper-1', file })).text;
}

describe('speech', () => {
  test.each(NAMES.slice(0, repetitions(2, NAMES.length)))(
    '%s speaks the text with the voice %s, and whisper-1 understands it',
    async (model, voice) => {
      expect(wordErrors(TEXT, await heard(await speak(model, voice))).errors).toBe(0);
    },
  );

  test('at speed 1.5 is shorter, and its first words are understood', async () => {
    const input = 'When the sun rose over the village, was everyone awake?';
    const at = async (speed: number) => {
      const request = { model: 'tts-1', voice: 'af_heart', input, response_format: 'pcm', speed } as const;
      return new Uint8Array(await (await client.audio.speech.create(request)).arrayBuffer());
    };
    const [natural, fast] = [await at(1), await at(1.5)];
    expect(Math.abs((fast.length * 1.5) / natural.length - 1)).toBeLessThan(0.05);
    expect(wordErrors(input, await heard(fast)).errors).toBe(0);
  });

  test('differs between voices, and a name in another case is the same voice', async () => {
    const [nova, again, onyx] = [
      await speak('tts-1', 'nova', 'Hello.'),
      await speak('tts-1', 'NOVA', 'Hello.'),
      await speak('tts-1', 'onyx', 'Hello.'),
    ];
    expect(Buffer.compare(nova, again)).toBe(0);
    expect(Buffer.compare(nova, onyx)).not.toBe(0);
  });

  test('of an unknown voice names similar ones, and svc-tts still refuses names', async () => {
    await expect(speak('tts-1', 'af_belle')).rejects.toMatchObject({
      status: 400,
      code: 'voice_not_found',
      message: expect.stringMatching(/'af_bella'.*GET \/v1\/audio\/voices\?model=tts-1/),
    });
    await expect(speak('svc-tts', 'nova')).rejects.toMatchObject({ status: 400, param: 'voice' });
  });
});

describe('lists', () => {
  test('have the names with the engine behind them', async () => {
    const { data } = (await get('/v1/models')) as { data: { id: string; engine: object }[] };
    const engines = new Map(data.map(({ id, engine }) => [id, engine]));
    expect(engines.get('svc-tts')).toEqual({ kind: 'kokoro' });
    expect(engines.get('tts-1-hd')).toEqual({ kind: 'kokoro', compatibility: 'openai' });
    expect(engines.get('gpt-4o-transcribe')).toEqual({ kind: 'whisper', weights: 'base' });
    const { models } = (await get('/v1/audio/models')) as { models: { id: string }[] };
    expect(models.map(({ id }) => id)).toEqual([
      ...['svc-tts', 'tts-1', 'tts-1-1106', 'tts-1-hd', 'tts-1-hd-1106', 'gpt-4o-mini-tts'],
      ...['gpt-4o-mini-tts-2025-03-20', 'gpt-4o-mini-tts-2025-12-15', 'kokoro', 'svc-tts-fast'],
    ]);
  });

  test('have the voices of a model, each of which can speak', async () => {
    const { data } = (await get('/v1/audio/voices?model=tts-1')) as { data: { id: string }[] };
    expect(data).toContainEqual({
      voice_id: 'fable',
      id: 'fable',
      object: 'audio.voice',
      type: 'preset',
      name: 'Fable',
      language: 'en-GB',
      gender: 'male',
      preset: 'bm_fable',
    });
    expect(data.length).toBe(67);
    const { data: stored, voices } = (await get('/v1/audio/voices')) as { data: []; voices: [] };
    expect([stored.length, voices.length]).toEqual([0, 67]);
    expect(await get('/v1/audio/voices?model=svc-tts')).toMatchObject({ data: [] });
  });

  test('have the preset voices of all languages with language and gender', async () => {
    const { data } = (await get('/v1/audio/voices?model=tts-1')) as {
      data: { id: string; language: string; gender: string }[];
    };
    const of = (id: string) => data.find((voice) => voice.id === id);
    expect(of('ef_dora')).toMatchObject({ language: 'es', gender: 'female' });
    expect(of('hm_psi')).toMatchObject({ language: 'hi', gender: 'male' });
    expect(
      Object.fromEntries(
        Map.groupBy(data, ({ language }) => language)
          .entries()
          .map(([tag, voices]) => [tag, voices.length]),
      ),
    ).toMatchObject({
      es: 3,
      fr: 1,
      it: 2,
      'pt-BR': 3,
      hi: 4,
      zh: 8,
      ja: 5,
    });
  });
});
