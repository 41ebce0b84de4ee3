import { expect, test } from 'vitest';
import { FakeTtsEngine, type FakeTtsOptions } from '../../test/doubles/fake-tts-engine.ts';
import { spokenVoice } from '../../test/media/spoken-voice.ts';
import type { TtsModelSettings } from '../contract/core/settings.ts';
import type { SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import { languageTable } from './language-table.ts';

const LANGUAGES = ['en-US', 'es'];

/** `main` speaks German through `german`, and Dutch through `dutch`, which is mapped in turn. */
function setUp(main: FakeTtsOptions = { languages: LANGUAGES, voices: ['nova'] }) {
  const own = new FakeTtsEngine(main);
  const german = new FakeTtsEngine({ languages: ['de', 'de-AT'], rateHz: 16_000, voices: ['anna'] });
  const dutch = new FakeTtsEngine({ languages: ['fr'] });
  const flemish = new FakeTtsEngine({ languages: ['nl'] });
  const settings = (languages?: Readonly<Record<string, string>>): TtsModelSettings => ({
    kind: 'kokoro',
    ...(languages && { languages: new Map(Object.entries(languages)) }),
  });
  const models = new Map([
    ['main', settings({ de: 'german', nl: 'dutch' })],
    ['german', settings()],
    ['dutch', settings({ nl: 'flemish' })],
    ['flemish', settings()],
  ]);
  const engines = new Map<string, TtsEngine>(Object.entries({ main: own, german, dutch, flemish }));
  const table = languageTable(models, engines);
  const engine = table.get('main') as TtsEngine;
  const speak = async (fields: Partial<SynthesisRequest>) => {
    const request = {
      text: 'a',
      speed: 1,
      priority: 'interactive',
      fairnessKey: '',
      delivery: 'whole',
    } as const;
    const audio = await Array.fromAsync(
      engine.synthesize({ ...request, ...fields }, new AbortController().signal),
    );
    return audio.reduce((sum, { length }) => sum + length, 0);
  };
  return { table, engine, own, german, dutch, flemish, speak };
}

test('a mapped language is spoken by its model, at the rate of the requested one', async () => {
  const { engine, own, german, speak } = setUp();
  expect(engine.languages).toEqual([...LANGUAGES, 'de', 'nl']);
  expect(['de', 'DE_ch', 'es', 'fr', 'de-Latn-AT'].map((tag) => engine.languageOf?.(tag))).toEqual([
    'de',
    'de',
    'es',
    undefined,
    'de',
  ]);
  expect(engine.rateHz).toBe(24_000);
  expect(await speak({ language: 'de' })).toBe(3600);
  expect(german.requests).toMatchObject([{ language: 'de' }]);
  expect(await speak({ language: 'es' })).toBe(2400);
  expect(await speak({})).toBe(2400);
  expect(own.requests.map(({ language }) => language)).toEqual(['es', undefined]);
});

test('a voice of another model is replaced by the default voice, and a voice of a mapped model selects it', async () => {
  const { engine, own, german, speak } = setUp();
  expect(['nova', 'anna', 'bert'].map((name) => engine.hasVoice?.(name))).toEqual([true, true, false]);
  for (const fields of [
    { language: 'de', voiceName: 'nova' },
    { language: 'de', voiceName: 'anna' },
    { language: 'es', voiceName: 'anna' },
    { voiceName: 'anna' },
    { voiceName: 'nova' },
  ]) {
    await speak(fields);
  }
  expect(german.requests.map(({ voiceName }) => voiceName)).toEqual([undefined, 'anna', 'anna']);
  expect(own.requests.map(({ voiceName }) => voiceName)).toEqual([undefined, 'nova']);
});

test('a detected language is spoken by its model, except with a stored voice', async () => {
  const voiceLanguage = { tag: 'en-US', isChosen: false };
  const { engine, own, german, speak } = setUp({ languages: LANGUAGES, voices: ['nova'], voiceLanguage });
  expect(engine.voiceLanguage?.('nova')).toEqual(voiceLanguage);
  expect(engine.voiceLanguage?.('anna')).toBeUndefined();
  await speak({ detectedLanguage: 'de', voiceName: 'nova' });
  await speak({ detectedLanguage: 'es', voiceName: 'nova' });
  await speak({ detectedLanguage: 'de', voice: spokenVoice() });
  await speak({ detectedLanguage: 'de', language: 'es' });
  expect(german.requests).toMatchObject([{ language: 'de', voiceName: undefined }]);
  expect(own.requests).toMatchObject([
    { language: undefined, detectedLanguage: 'es', voiceName: 'nova' },
    { language: undefined, detectedLanguage: undefined },
    { language: 'es', detectedLanguage: undefined },
  ]);
});

test('a mapped model may have mapped languages itself', async () => {
  const { dutch, flemish, speak } = setUp();
  await speak({ language: 'nl-BE' });
  expect([dutch.requests, flemish.requests].map(({ length }) => length)).toEqual([0, 1]);
});

test('a server whose languages are unknown gets all languages that are not mapped', async () => {
  const { engine, own, german, speak } = setUp({});
  expect([engine.languages, engine.languageOf]).toEqual([undefined, undefined]);
  await speak({ language: 'DE-at' });
  await speak({ language: 'ja' });
  expect(german.requests).toHaveLength(1);
  expect(own.requests.map(({ language }) => language)).toEqual(['ja']);
});

test('models without mapped languages are unchanged', () => {
  const { table, german } = setUp();
  expect(table.get('german')).toBe(german);
  expect([...table.keys()]).toEqual(['main', 'german', 'dutch', 'flemish']);
});

test('a model that does not speak the mapped language stops the start', () => {
  const models = new Map<string, TtsModelSettings>([
    ['main', { kind: 'kokoro', languages: new Map([['de', 'other']]) }],
  ]);
  const engines = new Map<string, TtsEngine>([
    ['main', new FakeTtsEngine()],
    ['other', new FakeTtsEngine({ languages: ['fr', 'nl'] })],
  ]);
  expect(() => languageTable(models, engines)).toThrow(
    `CONFIG: 'models."main".languages.de' names the model 'other', which does not speak this language; it speaks fr, nl.`,
  );
});
