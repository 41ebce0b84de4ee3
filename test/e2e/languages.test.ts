/** Speech in every language on the real process, with the default models. */

import { beforeAll, describe, expect, test } from 'vitest';
import { wavHeader } from '../../src/audio/wav.ts';
import { FRONT_ENDS } from '../../src/text/front-end.ts';
import { embeddedService, type GroupServiceAccess } from '../harness/group-servers.ts';
import { inDeepTier, repetitions } from '../harness/tier.ts';

const RATE_HZ = 24_000;
const TAGS = FRONT_ENDS.map(({ language }) => language);

/** Sentences of frequent words, which the smallest multilingual Whisper understands. */
const SENTENCES: Readonly<Record<string, string>> = {
  es: 'Mañana por la mañana vamos a la playa con toda la familia.',
  fr: 'Nous allons à la plage avec la famille.',
  it: 'Domani andiamo al mare con la famiglia.',
  'pt-BR': 'Amanhã de manhã vamos para a praia com toda a família.',
  hi: 'आज मौसम बहुत अच्छा है।',
  zh: '今天天气很好，我们去公园吧。',
  ja: '明日の朝、家族みんなで海に行きます。',
  'en-GB': 'Tomorrow morning we are going to the beach with the whole family.',
};

/** Texts of which the language is certain, with their tags. */
const SHORT_TEXTS: readonly (readonly [language: string, input: string])[] = [
  ['es', 'Mañana vamos a la playa.'],
  ['fr', "Nous allons à la plage aujourd'hui."],
  ['it', 'Domani andiamo al mare con gli amici.'],
  ['pt-BR', 'Amanhã nós vamos para a praia.'],
  ['en-US', 'Tomorrow we are going home.'],
  ['hi', 'आज मौसम अच्छा है।'],
  ['zh', '今天天气很好。'],
  ['ja', '明日は海に行きます。'],
];

let service: GroupServiceAccess;
beforeAll(async () => {
  service = await embeddedService();
});

const post = (path: string, body: object, key = service.key) =>
  service.fetch(path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function speak(fields: object, key?: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await post('/v1/audio/speech', { response_format: 'pcm', ...fields }, key);
  expect(response.status, response.ok ? '' : await response.clone().text()).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

async function heard(pcm: Uint8Array<ArrayBuffer>, language: string): Promise<string> {
  const form = new FormData();
  form.set('model', 'whisper-1');
  form.set('language', language.slice(0, 2));
  form.set('file', new File([wavHeader(pcm.length, RATE_HZ), pcm], 'speech.wav'));
  const response = await service.fetch('/v1/audio/transcriptions', {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: form,
  });
  return ((await response.json()) as { text: string }).text;
}

test('the list of models has the languages of speech models, and texts are read by their rules', async () => {
  const { data } = (await (await service.fetch('/v1/models')).json()) as {
    data: { id: string; languages?: string[] }[];
  };
  const languagesOf = (model: string) => data.find(({ id }) => id === model)?.languages;
  expect(languagesOf('tts-1')).toEqual(TAGS);
  const released = ['en-US', 'en-GB', 'es', 'fr', 'it', 'pt-BR', 'hi', 'zh', 'ja'];
  expect(TAGS).toEqual(expect.arrayContaining(released));
  expect(languagesOf('whisper-1')).toBeUndefined();
  const body = { input: 'Son las 21:00.', language: 'es' };
  const read = await post('/v1/audio/normalize', body);
  expect(await read.json()).toEqual({ language: 'es', spoken: 'Son las veintiuna.' });
  const detected = await post('/v1/audio/normalize', { input: 'El concierto empieza a las 21:00.' });
  expect(await detected.json()).toEqual({
    language: 'es',
    spoken: 'El concierto empieza a las veintiuna.',
  });
});

/** Words without capitals, accents and punctuation. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[^\p{L}\s]/gu, '')
    .trim()
    .split(/\s+/u);
}

/** Expects that at most one word of the sentence is missing in the transcript of its audio. */
async function expectUnderstood(language: string, pcm: Uint8Array<ArrayBuffer>): Promise<void> {
  const transcript = await heard(pcm, language);
  const known = new Set(wordsOf(transcript));
  const missing = wordsOf(SENTENCES[language] ?? '').filter((word) => !known.has(word));
  expect(missing.length, `${transcript} lacks ${missing.join(', ')}`).toBeLessThanOrEqual(1);
}

describe('speech', () => {
  test('in Spanish is understood', async () => {
    await expectUnderstood('es', await speak({ model: 'tts-1', language: 'es', input: SENTENCES.es }));
  });

  inDeepTier(() => {
    test.each(['fr', 'it', 'pt-BR', 'en-GB'])('in %s is understood', async (language) => {
      await expectUnderstood(
        language,
        await speak({ model: 'svc-tts', language, input: SENTENCES[language] }),
      );
    });

    test.each(['ff_siwis', 'if_sara', 'pm_alex'])('of the voice %s is in its language', async (voice) => {
      const language = { f: 'fr', i: 'it', p: 'pt-BR' }[voice.charAt(0)] ?? '';
      await expectUnderstood(language, await speak({ model: 'tts-1', voice, input: SENTENCES[language] }));
    });

    test('of a voice in another language has the sounds of that language', async () => {
      const input = SENTENCES.it ?? '';
      const [english, italian] = [
        await speak({ model: 'tts-1', voice: 'af_heart', input }),
        await speak({ model: 'tts-1', voice: 'af_heart', input, language: 'IT_it' }),
      ];
      expect(Buffer.compare(english, italian)).not.toBe(0);
      await expectUnderstood('it', italian);
    });

    test('of concurrent requests of several organizations is in the language of each text', async () => {
      const { keys } = service;
      const spoken = await Promise.all(
        SHORT_TEXTS.map(([language, input]) => speak({ model: 'tts-1', voice: 'nova', language, input })),
      );
      const requests = Array.from({ length: 20 }, (_, index) => index % SHORT_TEXTS.length);
      const detected = await Promise.all(
        requests.map((text, index) => {
          const [, input] = SHORT_TEXTS[text] ?? [];
          return speak({ model: 'tts-1', voice: 'nova', input }, keys[index % keys.length]);
        }),
      );
      for (const [index, text] of requests.entries()) {
        const [language, input] = SHORT_TEXTS[text] ?? [];
        const isEqual = Buffer.compare(detected[index] ?? Buffer.of(), spoken[text] ?? Buffer.of()) === 0;
        expect(isEqual, `${input} is ${language}`).toBe(true);
      }
    });

    test('of the partner endpoint is in the detected language', async () => {
      const speakAt = async (query: string) => {
        const message = { type: 'voice-request', text: SENTENCES.es, sampleRate: RATE_HZ };
        return new Uint8Array(await (await post(`/v1/voices/partner${query}`, { message })).arrayBuffer());
      };
      await expectUnderstood('es', await speakAt(''));
    });
  });

  test('of a voice of OpenAI is in the detected language of each paragraph', async () => {
    const speakWith = (voice: string, input: string, language?: string) =>
      speak({ model: 'tts-1', voice, input, ...(language && { language }) });
    const text = 'Bonjour à tous.';
    const french = await speakWith('nova', text, 'fr');
    const english = await speakWith('nova', 'Good morning.', 'en');
    const both = await speakWith('nova', `${text}\nGood morning.`);
    expect(Buffer.compare(both, Buffer.concat([french, english]))).toBe(0);
    // A voice of a language keeps it.
    const spanish = 'Buenos días a todos.';
    const siwis = await speakWith('ff_siwis', spanish);
    expect(Buffer.compare(await speakWith('ff_siwis', spanish, 'fr'), siwis)).toBe(0);
  });

  test('of words in another script is not left out', async () => {
    const timed = async (input: string) => {
      const fields = {
        model: 'tts-1',
        voice: 'af_heart',
        input,
        stream_format: 'json',
        timestamps: ['word'],
      };
      const { words } = (await (await post('/v1/audio/speech', fields)).json()) as {
        words: { word: string; start: number; end: number }[];
      };
      return words;
    };
    const words = await timed('The word 寿司 means sushi.');
    expect(words.map(({ word }) => word)).toEqual(['The', 'word', '寿司', 'means', 'sushi.']);
    for (const { start, end } of words) expect(end).toBeGreaterThan(start);
    const read = await post('/v1/audio/normalize', {
      input: 'In 2024年 the word ラーメン was new.',
      language: 'en',
    });
    expect(await read.json()).toMatchObject({
      spoken: 'In twenty twenty-four 年 the word ラーメン was new.',
    });
  });

  test('in Mandarin is understood, without a language or with one, and in its voices', async () => {
    const input = SENTENCES.zh ?? '';
    const characters = (text: string) => new Set(text.match(/\p{Script=Han}/gu));
    const requests = [{ voice: 'nova' }, { language: 'zh-CN' }, { voice: 'zm_yunxi' }];
    for (const fields of requests.slice(0, repetitions(1, requests.length))) {
      const known = characters(await heard(await speak({ model: 'tts-1', input, ...fields }), 'zh'));
      const missing = characters(input).difference(known);
      expect(missing.size, `lacks ${[...missing].join('')}`).toBeLessThanOrEqual(3);
    }
  });

  test('in Mandarin and Japanese has the times of its words', async () => {
    for (const language of ['zh', 'ja'].slice(0, repetitions(1, 2))) {
      const input = SENTENCES[language] ?? '';
      const fields = { model: 'tts-1', language, input, stream_format: 'json', timestamps: ['word'] };
      const response = await post('/v1/audio/speech', fields);
      const { words } = (await response.json()) as { words: { word: string; start: number; end: number }[] };
      expect(words.length).toBeGreaterThan(4);
      expect(words.map(({ word }) => word).join('')).toBe(input);
      for (const { start, end } of words) expect(end).toBeGreaterThan(start);
    }
  });

  test('in Japanese is understood, also when it is detected by its letters', async () => {
    const input = SENTENCES.ja ?? '';
    const transcript = await heard(await speak({ model: 'tts-1', voice: 'jf_alpha', input }), 'ja');
    for (const word of ['明日', '朝', '家族', '海', '行きます']) expect(transcript).toContain(word);
    const short = 'また明日。';
    const [detected, requested] = [
      await speak({ model: 'tts-1', voice: 'nova', input: short }),
      await speak({ model: 'tts-1', voice: 'nova', input: short, language: 'ja' }),
    ];
    expect(Buffer.compare(detected, requested)).toBe(0);
  });

  test('of Devanagari with an English voice is Hindi', async () => {
    const input = 'नमस्ते।';
    const [detected, requested] = [
      await speak({ model: 'tts-1', voice: 'nova', input }),
      await speak({ model: 'tts-1', voice: 'nova', input, language: 'hi' }),
    ];
    expect(detected.length).toBeGreaterThan(RATE_HZ / 2);
    expect(Buffer.compare(detected, requested)).toBe(0);
  });
});

test('an unsupported language is rejected before synthesis, with the supported ones', async () => {
  const body = { model: 'tts-1', voice: 'nova', input: 'Hallo.', language: 'tlh' };
  const response = await post('/v1/audio/speech', body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: {
      type: 'invalid_request_error',
      param: 'language',
      code: 'unsupported_value',
      message: expect.stringMatching(`'tlh'.*${TAGS.join(', ')}`),
    },
  });
  const message = { type: 'voice-request', text: 'Hallo.', sampleRate: 16_000 };
  const partner = await post('/v1/voices/partner?language=tlh', { message });
  expect(await partner.json()).toMatchObject({ error: { param: 'language' } });
});

test('the partner endpoint speaks the language of its query', async () => {
  // The language of this text is not Spanish.
  const input = 'Good morning.';
  const message = { type: 'voice-request', text: input, sampleRate: RATE_HZ };
  const response = await post('/v1/voices/partner?language=es', { message });
  const [asked, spoken] = [await response.bytes(), await speak({ model: 'tts-1', input, language: 'es' })];
  expect(Buffer.compare(asked, spoken)).toBe(0);
  expect(Buffer.compare(asked, await speak({ model: 'tts-1', input }))).not.toBe(0);
});
