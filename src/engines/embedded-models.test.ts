import { describe, expect, it } from 'vitest';
import { hubPiper } from '../../models/hub-reference.ts';
import { loadConfig } from '../config/config.ts';
import type {
  EmbedModelSettings,
  SttModelSettings,
  TextModelSettings,
  TtsModelSettings,
} from '../contract/core/settings.ts';
import {
  embeddedSpecs,
  enginesOfPlugins,
  entriesForModels,
  hubFilesForModels,
  poolModel,
} from './embedded-models.ts';

const remote: TtsModelSettings = {
  kind: 'upstream',
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKey: undefined,
  model: 'any',
  voice: undefined,
  voices: 'none',
  rateHz: 16_000,
};

function models(
  tts: Record<string, TtsModelSettings>,
  stt: Record<string, SttModelSettings>,
  text: Record<string, TextModelSettings> = {},
  embed: Record<string, EmbedModelSettings> = {},
): Parameters<typeof entriesForModels>[0] {
  return {
    tts: new Map(Object.entries(tts)),
    stt: new Map(Object.entries(stt)),
    text: new Map(Object.entries(text)),
    embed: new Map(Object.entries(embed)),
  };
}

describe('embeddedSpecs', () => {
  it('has every voice of CONFIG, and weights of several model ids once', () => {
    const configured = models(
      {
        a: { kind: 'kokoro', voice: 'af_heart' },
        b: { kind: 'kokoro', voice: 'am_adam' },
        c: { kind: 'kokoro', voice: 'af_heart' },
        remote,
      },
      {
        d: { kind: 'whisper', weights: 'base' },
        e: { kind: 'whisper', weights: 'base' },
        f: { kind: 'whisper', weights: '/srv/small' },
        remote,
      },
    );
    expect(embeddedSpecs(configured, '/models')).toEqual({
      kokoro: { kind: 'kokoro', modelsDir: '/models', voices: ['af_heart', 'am_adam'] },
      'whisper-base': { kind: 'whisper', modelsDir: '/models', weights: 'base' },
      'whisper-/srv/small': { kind: 'whisper', modelsDir: '/models', weights: '/srv/small' },
    });
    expect(poolModel({ kind: 'whisper', weights: 'tiny.en' })).toBe('whisper-tiny.en');
    expect(embeddedSpecs(models({ remote }, { remote }), '/models')).toEqual({});
  });
});

describe('Piper voices outside the catalog', () => {
  const german = { kind: 'piper', voice: 'de_DE-thorsten-medium' } as const;
  const own = { kind: 'piper', voice: '/missing/own.onnx' } as const;

  it('are models of their own in the pool, one for all speakers', () => {
    expect(poolModel({ kind: 'piper', voice: 'en_US-joe-medium' })).toBe('piper');
    expect(poolModel(german)).toBe('piper-de_DE-thorsten-medium');
    expect(poolModel({ ...german, speaker: 'anna' })).toBe(poolModel(german));
  });

  it('need eSpeak NG and the files of the hub', () => {
    const configured = models({ german, again: { ...german, speaker: 'anna' }, own }, {});
    expect(hubFilesForModels(configured)).toEqual([hubPiper('de_DE-thorsten-medium')]);
    expect(entriesForModels(configured).map(({ id }) => id)).toEqual([
      expect.stringMatching(/^espeak-ng-/),
      'silero-vad',
      'smart-turn-v3.2',
    ]);
    const joe = models({ joe: { kind: 'piper', voice: 'en_US-joe-medium' } }, {});
    expect(hubFilesForModels(joe)).toEqual([]);
    expect(entriesForModels(joe).map(({ id }) => id)).toContain('piper-en-us-joe');
  });

  it.each(['thorsten', 'de-thorsten', 'de_DE-thorsten-best', 'own.onnx', '/srv/voice'])(
    'are rejected with the form of their names: %s',
    (voice) => {
      expect(() => entriesForModels(models({ it: { kind: 'piper', voice } }, {}))).toThrow(
        `CONFIG: unknown voice '${voice}' for piper. Allowed: en_US-joe-medium, the name of a voice of rhasspy/piper-voices, LANGUAGE_REGION-NAME-QUALITY, such as de_DE-thorsten-medium`,
      );
    },
  );

  it('must be on disk when they are loaded', () => {
    expect(() => embeddedSpecs(models({ own }, {}), '/models')).toThrow('/missing/own.onnx');
    expect(() => embeddedSpecs(models({ german }, {}), '/models')).toThrow(
      'Run `bun run models fetch de_DE-thorsten-medium`.',
    );
  });
});

it("OpenAI's names need no further models", () => {
  const { ttsModels: tts, sttModels: stt } = loadConfig({});
  const embed = new Map<string, EmbedModelSettings>();
  const own = { tts: new Map([...tts].slice(0, 1)), stt: new Map([...stt].slice(0, 1)), embed };
  expect([own.tts.has('svc-tts'), own.stt.has('svc-stt'), tts.has('tts-1')]).toEqual([true, true, true]);
  expect(embeddedSpecs({ tts, stt, embed }, '/models')).toEqual(embeddedSpecs(own, '/models'));
});

it.each([
  [
    'large',
    /^CONFIG: unknown weights 'large' for whisper\. Allowed: base, tiny\.en, .*, or the absolute path/,
  ],
  ['', /unknown weights/],
])('rejects unknown weights: %j', (weights, message) => {
  const configured = models({}, { d: { kind: 'whisper', weights } });
  expect(() => embeddedSpecs(configured, '/models')).toThrow(message);
  expect(() => entriesForModels(configured)).toThrow(message);
});

describe('entriesForModels', () => {
  const DETECTORS = ['silero-vad', 'smart-turn-v3.2'];
  const idsFor = (...args: Parameters<typeof entriesForModels>) =>
    entriesForModels(...args).map(({ id }) => id);

  it('returns the entries of the models and of the detectors', () => {
    const configured = models({ a: remote }, { d: { kind: 'whisper', weights: 'base' } });
    expect(idsFor(configured)).toEqual(['whisper-base-ct2', ...DETECTORS]);
    expect(idsFor(models({}, { d: { kind: 'whisper', weights: 'tiny.en' } }))).toEqual([
      'whisper-tiny-en-ct2',
      ...DETECTORS,
    ]);
  });

  it('returns the entries of language models, and none for a file outside the catalog', () => {
    const own: TextModelSettings = {
      kind: 'llama',
      weights: '/srv/own.gguf',
      slots: 1,
      contextTokens: 512,
      defaultMaxTokens: 512,
    };
    const shipped = { ...own, weights: 'smollm2-135m-instruct' };
    expect(idsFor(models({}, {}, { own, remote }))).toEqual(DETECTORS);
    expect(idsFor(models({}, {}, { own, shipped }))).toEqual([...DETECTORS, 'smollm2-135m-instruct']);
    expect(() => idsFor(models({}, {}, { it: { ...own, weights: 'other' } }))).toThrow(
      /^CONFIG: unknown weights 'other' for llama\. Allowed: smollm2-135m-instruct, .*, or the absolute path/,
    );
  });

  it('returns the weights and the vocabulary of embedding models', () => {
    expect(idsFor(models({}, {}, {}, { a: { kind: 'minilm' }, b: remote }))).toEqual([
      ...DETECTORS,
      'all-minilm-l6-v2-int8',
      'bert-uncased-vocabulary',
    ]);
  });

  it('returns no entry for a folder outside the catalog, and the entries of additional engines', () => {
    const configured = models({}, { d: { kind: 'whisper', weights: '/srv/small' } });
    expect(idsFor(configured)).toEqual(DETECTORS);
    expect(idsFor(configured, ['piper'])).toEqual(['piper-en-us-joe', ...DETECTORS]);
  });

  it('returns the speaker encoder when the voices plugin is loaded', () => {
    expect(idsFor(models({}, {}), enginesOfPlugins(undefined))).toEqual([...DETECTORS, 'resemblyzer']);
    expect(idsFor(models({}, {}), enginesOfPlugins(['speech', 'voices']))).toEqual([
      ...DETECTORS,
      'resemblyzer',
    ]);
    expect(idsFor(models({}, {}), enginesOfPlugins(['speech']))).toEqual(DETECTORS);
  });
});
