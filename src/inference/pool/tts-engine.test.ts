import { describe, expect, it } from 'vitest';
import { spokenVoice } from '../../../test/media/spoken-voice.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { SynthesisRequest } from '../../contract/engines/engine.ts';
import type { InferencePool } from './inference-pool.ts';
import type { ModelVoice, SpeechDescription, SpeechRequest } from './model.ts';
import type { NamedVoices } from './named-voices.ts';
import { type SpokenLanguages, spokenLanguages } from './spoken-languages.ts';
import { poolTtsEngine } from './tts-engine.ts';

const REQUEST: SynthesisRequest = {
  text: 'One.',
  speed: 1.5,
  priority: 'interactive',
  fairnessKey: 'a',
  delivery: 'stream',
};
const DESCRIPTION: SpeechDescription = { rateHz: 24_000, supportsAdaptations: true };
const never = new AbortController().signal;

const NOVA = { voice: { kind: 'preset', name: 'af_nova' }, language: 'en-US' } as const;
const HINDI = 'नमस्ते, आप कैसे हैं?';

/** An engine over a pool that records the requests to its one model. */
function recordingEngine(
  description: SpeechDescription,
  named?: NamedVoices,
  accented?: SpokenLanguages['accented'],
) {
  const requests: SpeechRequest[] = [];
  const pool = {
    description: () => description,
    async *runJob(_: string, { request }: { request: SpeechRequest }) {
      requests.push(request);
      yield Float32Array.of(0.5) as Float32Samples;
    },
  } as unknown as InferencePool;
  const languages = spokenLanguages(['en-US', 'es', 'hi'], 'en-US', {
    voiceOf: (language) => (language === 'es' ? { kind: 'preset', name: 'ef_dora' } : undefined),
    ...(accented && { accented }),
  });
  const settings = { kind: 'kokoro', voice: 'af_heart' } as const;
  const engine = poolTtsEngine(pool, 'model', settings, languages, named);
  const speak = async (fields: Partial<SynthesisRequest> = {}, signal = never) =>
    Array.fromAsync(engine.synthesize({ ...REQUEST, ...fields }, signal));
  return { engine, requests, speak };
}

it('knows the language of a text: that of the request, of its letters, or of the voice', () => {
  const named = { list: [], problemOf: () => undefined };
  const dora = { voice: { kind: 'preset', name: 'ef_dora' }, language: 'es' } as const;
  const { engine } = recordingEngine(DESCRIPTION, {
    ...named,
    find: (name) => (name === 'ef_dora' ? dora : undefined),
  });
  const languageOf = (fields: Partial<SynthesisRequest>) => engine.textLanguage?.({ ...REQUEST, ...fields });
  expect(languageOf({})).toBe('en-US');
  expect(languageOf({ text: HINDI })).toBe('hi');
  expect(languageOf({ voiceName: 'ef_dora' })).toBe('es');
  expect(languageOf({ voiceName: 'ef_dora', language: 'en-US' })).toBe('en-US');
});

it('reads a text in its detected language, with the voice of the request or the default one', async () => {
  const nova = { ...NOVA, isOfAnyLanguage: true };
  const dora = { voice: { kind: 'preset', name: 'ef_dora' }, language: 'es' } as const;
  const { engine, requests, speak } = recordingEngine(DESCRIPTION, {
    list: [],
    problemOf: () => undefined,
    find: (name) => ({ nova, dora })[name],
  });
  expect(['nova', 'dora', undefined].map((name) => engine.voiceLanguage?.(name))).toEqual([
    { tag: 'en-US', isChosen: false },
    { tag: 'es', isChosen: true },
    { tag: 'en-US', isChosen: false },
  ]);
  await speak({ detectedLanguage: 'es' });
  await speak({ detectedLanguage: 'es', voiceName: 'nova' });
  await speak({ detectedLanguage: 'es', text: HINDI });
  await speak({ detectedLanguage: 'es', language: 'hi' });
  expect(requests).toMatchObject([
    { language: 'es', voice: { name: 'af_heart' } },
    { language: 'es', voice: { name: 'af_nova' } },
    { language: 'hi', voice: { name: 'af_heart' } },
    { language: 'hi', voice: { name: 'af_heart' } },
  ]);
});

it('ignores the length of the first audio after other audio', async () => {
  const { requests, speak } = recordingEngine({ rateHz: 24_000, supportsAdaptations: true });
  await speak({ firstAudioMs: 600 });
  await speak({ firstAudioMs: 600, aheadMs: 10 });
  expect(requests.map(({ firstAudioMs }) => firstAudioMs)).toEqual([600, undefined]);
});

describe('voice of a synthesis', () => {
  it('is a named voice of the model', async () => {
    const nova = { id: 'nova', name: 'Nova', language: 'en-US', gender: 'female' } as const;
    const { engine, requests, speak } = recordingEngine(DESCRIPTION, {
      list: [nova],
      find: (name) => (name === 'nova' ? NOVA : undefined),
      problemOf: () => 'problem',
    });
    expect(engine.voices).toEqual([nova]);
    expect([engine.hasVoice?.('nova'), engine.hasVoice?.('x')]).toEqual([true, false]);
    expect(engine.voiceProblem?.('x')).toBe('problem');
    await speak({ voiceName: 'nova' });
    expect(requests[0]?.voice).toEqual({ kind: 'preset', name: 'af_nova' });
  });

  it('cannot be named without named voices', () => {
    const { engine } = recordingEngine(DESCRIPTION);
    expect([engine.voices, engine.hasVoice, engine.voiceProblem]).toEqual([undefined, undefined, undefined]);
  });

  it('is the preset of CONFIG when the request has no voice', async () => {
    const { requests, speak } = recordingEngine({ rateHz: 24_000, supportsAdaptations: true });
    expect(await speak()).toHaveLength(1);
    expect(requests).toEqual([
      {
        text: 'One.',
        speed: 1.5,
        delivery: 'stream',
        words: false,
        voice: { kind: 'preset', name: 'af_heart' },
        language: 'en-US',
      },
    ]);
  });

  it('is the adaptation of a stored voice, without reading its clip', async () => {
    const { requests, speak } = recordingEngine({ rateHz: 24_000, supportsAdaptations: true });
    const clip = () => Promise.reject(new Error('the clip was read'));
    await speak({ voice: spokenVoice({ id: 'tts-vc-voice_1', adaptation: 'mix', clip }) });
    expect(requests[0]?.voice).toEqual({ kind: 'adaptation', adaptation: 'mix' });
  });

  it('is rejected as retryable while the stored voice has no adaptation', async () => {
    const { requests, speak } = recordingEngine({ rateHz: 24_000, supportsAdaptations: true });
    const rejected = speak({ voice: spokenVoice({ adaptation: undefined }) });
    await expect(rejected).rejects.toMatchObject({ kind: 'overloaded', param: 'voice', retryAfterS: 5 });
    expect(requests).toEqual([]);
  });

  it('is rejected by a model that does not support stored voices', async () => {
    const { requests, speak } = recordingEngine({ rateHz: 22_050, supportsAdaptations: false });
    for (const adaptation of ['mix', undefined]) {
      const rejected = speak({ voice: spokenVoice({ adaptation }) });
      await expect(rejected).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'voice',
        message: expect.stringContaining('does not support stored voices'),
      });
    }
    expect(requests).toEqual([]);
  });
});

describe('language of a synthesis', () => {
  const named: NamedVoices = {
    list: [],
    find: (name) => (name === 'nova' ? NOVA : { ...NOVA, language: 'es' }),
    problemOf: () => undefined,
  };

  it.each<[string, Partial<SynthesisRequest>, string]>([
    ['that of the request', { voiceName: 'nova', language: 'es' }, 'es'],
    ['that of the named voice', { voiceName: 'dora' }, 'es'],
    ['that of the default voice', {}, 'en-US'],
    ['that of the default voice for a stored voice', { voice: spokenVoice({ adaptation: 'a' }) }, 'en-US'],
    ['Hindi for letters that the voice cannot read', { voiceName: 'nova', text: HINDI }, 'hi'],
    ['that of the request for any letters', { voiceName: 'nova', text: HINDI, language: 'en-US' }, 'en-US'],
    [
      'that of the voice for a text with one foreign word',
      { text: `The word ${HINDI.slice(0, 6)} is old.` },
      'en-US',
    ],
  ])('is %s', async (_, fields, language) => {
    const { requests, speak } = recordingEngine(DESCRIPTION, named);
    await speak(fields);
    expect(requests[0]?.language).toBe(language);
  });

  it('selects its own voice when the request has none', async () => {
    const { requests, speak } = recordingEngine(DESCRIPTION, named);
    await speak({ language: 'es' });
    await speak({ language: 'es', voiceName: 'nova' });
    await speak({ language: 'hi' });
    const names = requests.map(({ voice }) => (voice?.kind === 'preset' ? voice.name : undefined));
    expect(names).toEqual(['ef_dora', 'af_nova', 'af_heart']);
  });

  it('is given to every voice, which may have an accent in it', async () => {
    const accented = (voice: ModelVoice, language: string) =>
      language === 'es' ? { kind: 'adaptation' as const, adaptation: `es ${JSON.stringify(voice)}` } : voice;
    const { requests, speak } = recordingEngine(DESCRIPTION, named, accented);
    const stored = spokenVoice({ adaptation: 'mix' });
    for (const fields of [
      { language: 'es', voiceName: 'nova' },
      { detectedLanguage: 'es', voiceName: 'nova' },
      { language: 'es', voice: stored },
      { detectedLanguage: 'es' },
    ]) {
      await speak(fields);
      expect(requests.at(-1)?.voice).toMatchObject({ adaptation: expect.stringMatching(/^es /) });
    }
    await speak({ voiceName: 'nova' });
    expect(requests.at(-1)?.voice).toEqual({ kind: 'preset', name: 'af_nova' });
  });

  it('is recognized in any form', () => {
    const { engine } = recordingEngine(DESCRIPTION);
    expect(engine.languages).toEqual(['en-US', 'es', 'hi']);
    const tags = [
      'es',
      'ES',
      'es-MX',
      'es_419',
      'en',
      'EN_us',
      'en-Latn-US',
      'hi-IN',
      'fr',
      'de',
      'e',
      '',
      'es'.repeat(99),
    ];
    expect(tags.map((tag) => engine.languageOf?.(tag))).toEqual([
      ...['es', 'es', 'es', 'es', 'en-US', 'en-US', 'en-US', 'hi'],
      ...[undefined, undefined, undefined, undefined, undefined],
    ]);
  });
});
