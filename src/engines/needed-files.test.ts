import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/config.ts';
import type { ModelSettings } from '../contract/core/settings.ts';
import { familyOf } from './families.ts';
import { type ModelTables, modelTables } from './family.ts';
import type { KokoroModelSettings } from './kokoro/settings.ts';
import type { LlamaModelSettings } from './llama/settings.ts';
import type { MinilmModelSettings } from './minilm/settings.ts';
import { enginesOfPlugins, entriesForModels, hubFilesForModels } from './needed-files.ts';
import { hubPiper } from './piper/hub-voices.ts';
import type { PiperModelSettings } from './piper/settings.ts';
import { pooledModels } from './pool-models.ts';
import type { UpstreamTtsSettings } from './upstream/settings.ts';
import type { WhisperModelSettings } from './whisper/settings.ts';

const remote: UpstreamTtsSettings = {
  kind: 'upstream',
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKey: undefined,
  model: 'any',
  voice: undefined,
  voices: 'none',
  rateHz: 16_000,
};

type Models = Record<
  string,
  | KokoroModelSettings
  | PiperModelSettings
  | WhisperModelSettings
  | LlamaModelSettings
  | MinilmModelSettings
  | UpstreamTtsSettings
>;
const asTable = (models: Models) => new Map<string, ModelSettings>(Object.entries(models));

function models(tts: Models, stt: Models = {}, text: Models = {}, embed: Models = {}): ModelTables {
  return modelTables({
    speech: asTable(tts),
    transcription: asTable(stt),
    chat: asTable(text),
    embeddings: asTable(embed),
  });
}

/** What the inference processes load, by name. */
function specsOf(tables: ModelTables): Readonly<Record<string, unknown>> {
  const needed = pooledModels(new Set(['tts', 'stt', 'embed'] as const), tables, '/models');
  return Object.fromEntries(needed.map(({ name, spec }) => [name, spec()]));
}

const poolName = (task: 'speech' | 'transcription', settings: Models[string]) =>
  familyOf(task, settings).pool?.name(settings);

describe('the inference processes', () => {
  it('have every voice of CONFIG, and weights of several model ids once', () => {
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
    expect(specsOf(configured)).toEqual({
      kokoro: { kind: 'kokoro', modelsDir: '/models', voices: ['af_heart', 'am_adam'] },
      'whisper-base': { kind: 'whisper', modelsDir: '/models', weights: 'base' },
      'whisper-/srv/small': { kind: 'whisper', modelsDir: '/models', weights: '/srv/small' },
    });
    expect(poolName('transcription', { kind: 'whisper', weights: 'tiny.en' })).toBe('whisper-tiny.en');
    expect(specsOf(models({ remote }, { remote }))).toEqual({});
  });
});

describe('Piper voices outside the catalog', () => {
  const german = { kind: 'piper', voice: 'de_DE-thorsten-medium' } as const;
  const own = { kind: 'piper', voice: '/missing/own.onnx' } as const;

  it('are models of their own in the pool, one for all speakers', () => {
    expect(poolName('speech', { kind: 'piper', voice: 'en_US-joe-medium' })).toBe('piper');
    expect(poolName('speech', german)).toBe('piper-de_DE-thorsten-medium');
    expect(poolName('speech', { ...german, speaker: 'anna' })).toBe(poolName('speech', german));
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
    expect(() => specsOf(models({ own }))).toThrow('/missing/own.onnx');
    expect(() => specsOf(models({ german }))).toThrow('Run `bun run models fetch de_DE-thorsten-medium`.');
  });
});

it("OpenAI's names need no further models", () => {
  const { speech, transcription } = loadConfig({}).models;
  const own = {
    speech: new Map([...speech].slice(0, 1)),
    transcription: new Map([...transcription].slice(0, 1)),
  };
  expect([own.speech.has('svc-tts'), own.transcription.has('svc-stt'), speech.has('tts-1')]).toEqual([
    true,
    true,
    true,
  ]);
  expect(specsOf(modelTables({ speech, transcription }))).toEqual(specsOf(modelTables(own)));
});

it.each([
  [
    'large',
    /^CONFIG: unknown weights 'large' for whisper\. Allowed: base, tiny\.en, .*, or the absolute path/,
  ],
  ['', /unknown weights/],
])('rejects unknown weights: %j', (weights, message) => {
  const configured = models({}, { d: { kind: 'whisper', weights } });
  expect(() => specsOf(configured)).toThrow(message);
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
    const own: LlamaModelSettings = {
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
