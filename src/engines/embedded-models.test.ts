import { describe, expect, it } from 'vitest';
import type {
  EmbedModelSettings,
  SttModelSettings,
  TextModelSettings,
  TtsModelSettings,
} from '../contract/core/settings.ts';
import { embeddedSpecs, enginesOfPlugins, entriesForModels, poolModel } from './embedded-models.ts';

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

describe('the pool', () => {
  it('has every voice of CONFIG loaded, and weights that several ids name once', () => {
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

it.each([
  ['large', /^CONFIG: 'large' are no weights of whisper; allowed: base, tiny\.en and the absolute path/],
  ['', /no weights/],
])('weights that nobody has are refused: %j', (weights, message) => {
  const configured = models({}, { d: { kind: 'whisper', weights } });
  expect(() => embeddedSpecs(configured, '/models')).toThrow(message);
  expect(() => entriesForModels(configured)).toThrow(message);
});

describe('the cache', () => {
  const idsFor = (...args: Parameters<typeof entriesForModels>) =>
    entriesForModels(...args).map(({ id }) => id);

  it('brings what the models need, and voice activity', () => {
    const configured = models({ a: remote }, { d: { kind: 'whisper', weights: 'base' } });
    expect(idsFor(configured)).toEqual(['whisper-base-ct2', 'silero-vad']);
    expect(idsFor(models({}, { d: { kind: 'whisper', weights: 'tiny.en' } }))).toEqual([
      'whisper-tiny-en-ct2',
      'silero-vad',
    ]);
  });

  it('brings language models, and nothing for a file of somebody else', () => {
    const own: TextModelSettings = { kind: 'llama', weights: '/srv/own.gguf', slots: 1, contextTokens: 512 };
    const shipped = { ...own, weights: 'smollm2-135m-instruct' };
    expect(idsFor(models({}, {}, { own, remote }))).toEqual(['silero-vad']);
    expect(idsFor(models({}, {}, { own, shipped }))).toEqual(['silero-vad', 'smollm2-135m-instruct']);
    expect(() => idsFor(models({}, {}, { it: { ...own, weights: 'other' } }))).toThrow(
      /^CONFIG: 'other' are no weights of llama; allowed: smollm2-135m-instruct and the absolute path/,
    );
  });

  it('brings the weights and the vocabulary of embeddings', () => {
    expect(idsFor(models({}, {}, {}, { a: { kind: 'minilm' }, b: remote }))).toEqual([
      'silero-vad',
      'all-minilm-l6-v2-int8',
      'bert-uncased-vocabulary',
    ]);
  });

  it('brings nothing for a folder of somebody else, and more when it is told to', () => {
    const configured = models({}, { d: { kind: 'whisper', weights: '/srv/small' } });
    expect(idsFor(configured)).toEqual(['silero-vad']);
    expect(idsFor(configured, ['piper'])).toEqual(['piper-en-us-joe', 'silero-vad']);
  });

  it('brings what tells speakers apart where the plugin of voices is loaded', () => {
    expect(idsFor(models({}, {}), enginesOfPlugins(undefined))).toEqual(['silero-vad', 'resemblyzer']);
    expect(idsFor(models({}, {}), enginesOfPlugins(['speech', 'voices']))).toEqual([
      'silero-vad',
      'resemblyzer',
    ]);
    expect(idsFor(models({}, {}), enginesOfPlugins(['speech']))).toEqual(['silero-vad']);
  });
});
