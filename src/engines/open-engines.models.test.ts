import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ttsEngineCases } from '../../test/contract/tts-engine.cases.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { inDeepTier } from '../../test/harness/tier.ts';
import { KOKORO_MIX, spokenVoice } from '../../test/media/spoken-voice.ts';
import { voiceSound } from '../../test/media/voice-sound.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';
import { type OpenedEngines, openEngines } from '../../tools/harness/models/open-engines.ts';
import {
  HOUSE_VOICE,
  startFakeCloningUpstream,
} from '../../tools/harness/upstreams/fake-cloning-upstream.ts';
import { pcmAnswer, startFakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';
import { loadConfig } from '../config/config.ts';
import type { ModelSettings } from '../contract/core/settings.ts';
import type { SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import type { Slots } from '../contract/plugin.ts';
import { systemClock } from '../kit/clock.ts';
import type { KokoroModelSettings } from './kokoro/settings.ts';
import type { LlamaModelSettings } from './llama/settings.ts';
import type { EngineOptions } from './open-engines.ts';
import type { PiperModelSettings } from './piper/settings.ts';
import type { UpstreamModelSettings, UpstreamTtsSettings } from './upstream/settings.ts';
import type { WhisperModelSettings } from './whisper/settings.ts';

/** A speech model of any family. */
type SpeechSettings = KokoroModelSettings | PiperModelSettings | UpstreamTtsSettings;

const { modelsDir } = loadConfig(process.env);
const KOKORO: KokoroModelSettings = { kind: 'kokoro', voice: 'af_heart' };
const PIPER: PiperModelSettings = { kind: 'piper', voice: 'en_US-joe-medium' };

/** Opens the engines of the needed slots, with one pool process. */
function open({
  needs = new Set(),
  ...options
}: Partial<EngineOptions> & { readonly needs?: ReadonlySet<keyof Slots> }): Promise<OpenedEngines> {
  return openEngines({
    needs,
    models: {},
    inference: { provider: 'cpu', workers: 1, threads: 1, queueLimit: 64, environment: {} },
    modelsDir,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
    ...options,
  });
}

async function openTable(models: Record<string, SpeechSettings>, dir = modelsDir) {
  const ttsModels = new Map(Object.entries(models));
  const { slots, close } = await open({
    needs: new Set(['tts']),
    models: { speech: ttsModels },
    modelsDir: dir,
  });
  if (slots.tts === undefined) throw new Error('the slot that was needed is empty');
  return { table: slots.tts, close };
}

async function openEngine(settings: SpeechSettings) {
  const { table, close } = await openTable({ it: settings });
  const engine = table.get('it');
  if (engine === undefined) throw new Error('the table lacks its only model');
  return { engine, close };
}

// The default tier checks the contract with the faster model, which runs in the same pool.
inDeepTier(() =>
  ttsEngineCases('kokoro', () => openEngine(KOKORO), {
    isSpeech: true,
    storedVoice: spokenVoice({ adaptation: KOKORO_MIX }),
  }),
);
ttsEngineCases('piper', () => openEngine(PIPER), { isSpeech: true });
ttsEngineCases(
  'upstream',
  async () => {
    const upstream = startFakeUpstream();
    upstream.answer(() =>
      pcmAnswer([
        [1, 2, 3],
        [4, 5, 6],
        [7, 8],
      ]),
    );
    const { engine, close } = await openEngine({
      kind: 'upstream',
      baseUrl: upstream.baseUrl,
      apiKey: undefined,
      model: 'any',
      voice: undefined,
      voices: 'none',
      rateHz: 24_000,
    });
    return {
      engine,
      async close() {
        await close();
        await upstream.close();
      },
    };
  },
  { isSpeech: false },
);
describe.each(['register', 'inline'] as const)('voices = "%s":', (voices) => {
  ttsEngineCases(
    'upstream that clones',
    async () => {
      const upstream = startFakeCloningUpstream();
      const { engine, close } = await openEngine({
        kind: 'upstream',
        baseUrl: upstream.baseUrl,
        apiKey: undefined,
        model: 'base',
        voice: HOUSE_VOICE,
        voices,
        rateHz: 24_000,
      });
      return {
        engine,
        async close() {
          await close();
          await upstream.close();
        },
      };
    },
    { isSpeech: false, storedVoice: spokenVoice() },
  );
});

describe('model table', () => {
  it('keeps the order of CONFIG and loads the weights of a kind once', async () => {
    const { table, close } = await openTable({
      slow: PIPER,
      'svc-tts': { ...PIPER },
      remote: {
        kind: 'upstream',
        baseUrl: 'http://127.0.0.1:9/v1',
        apiKey: undefined,
        model: 'any',
        voice: undefined,
        voices: 'none',
        rateHz: 16_000,
      },
    });
    expect(table.ids).toEqual(['slow', 'svc-tts', 'remote']);
    expect(table.ids.map((id) => table.get(id)?.rateHz)).toEqual([22_050, 22_050, 16_000]);
    expect(table.get('none')).toBeUndefined();
    await close();
    await close();
    expect(table.get('slow')?.ready().ready).toBe(false);
  });

  it('uploads a voice once for a model and the ids that follow it', async () => {
    const upstream = startFakeCloningUpstream();
    onTestFinished(() => upstream.close());
    const settings: UpstreamTtsSettings = {
      kind: 'upstream',
      baseUrl: upstream.baseUrl,
      apiKey: undefined,
      model: 'base',
      voice: HOUSE_VOICE,
      voices: 'register',
      rateHz: 24_000,
    };
    const ttsModels = new Map<string, SpeechSettings>([
      ['svc-tts', settings],
      ['tts-1', { ...settings, compatibility: 'openai' }],
    ]);
    const followers = new Map([['tts-1', 'svc-tts']]);
    const { slots, close } = await open({
      needs: new Set(['tts']),
      models: { speech: ttsModels },
      followers,
    });
    onTestFinished(() => close());
    const voice = spokenVoice();
    const request = { text: 'One.', voice, speed: 1, priority: 'interactive', fairnessKey: 'a' } as const;
    for (const id of ['svc-tts', 'tts-1']) {
      const engine = slots.tts?.get(id);
      const signal = new AbortController().signal;
      const runs = engine?.synthesize({ ...request, delivery: 'stream' }, signal);
      expect(runs && (await Array.fromAsync(runs)).length).toBeGreaterThan(0);
    }
    expect(upstream.uploads).toBe(1);
    const [own, following] = [slots.tts?.get('svc-tts'), slots.tts?.get('tts-1')];
    expect([own?.compatibility, following?.compatibility]).toEqual([undefined, 'openai']);
    expect([own?.deleteVoice === undefined, following?.deleteVoice === undefined]).toEqual([false, true]);
  });

  it.each([
    ['kokoro', /unknown voice 'missing' for kokoro\. Allowed: .*af_heart/],
    [
      'piper',
      /unknown voice 'missing' for piper\. Allowed: en_US-joe-medium, .*LANGUAGE_REGION-NAME-QUALITY, such as de_DE-thorsten-medium/,
    ],
  ] as const)('lists the voices of %s in the error for an unknown voice', async (kind, message) => {
    await expect(openTable({ it: { kind, voice: 'missing' } })).rejects.toThrow(message);
  });

  it.each([KOKORO, PIPER])('names the missing file of $kind in the error', async (settings) => {
    await expect(openTable({ it: settings }, await tempDir())).rejects.toThrow(/is missing .*models fetch/);
  });
});

describe('engine slots', () => {
  it('are opened only when a plugin needs them', async () => {
    const spawn = vi.spyOn(Bun, 'spawn');
    onTestFinished(() => spawn.mockRestore());
    const ttsModels = new Map(Object.entries({ 'svc-tts': KOKORO }));
    const { slots, close } = await open({ needs: new Set(['calls', 'log']), models: { speech: ttsModels } });
    expect(slots).toEqual({});
    expect(spawn).not.toHaveBeenCalled();
    await close();
  });

  it('have voice activity detection when it is needed', async () => {
    const { slots, close } = await open({ needs: new Set(['vad']) });
    expect(Object.keys(slots)).toEqual(['vad']);
    expect(slots.vad?.ready().ready).toBe(true);
    await close();
    expect(slots.vad?.ready().ready).toBe(false);
  });

  it('have transcription models in the order of CONFIG and load shared weights once', async () => {
    const english: WhisperModelSettings = { kind: 'whisper', weights: 'tiny.en' };
    const remote: UpstreamModelSettings = {
      kind: 'upstream',
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKey: undefined,
      model: 'any',
    };
    const sttModels = new Map(Object.entries({ remote, 'svc-stt': english, other: english }));
    const { slots, close } = await open({ needs: new Set(['stt']), models: { transcription: sttModels } });
    expect(Object.keys(slots)).toEqual(['stt']);
    expect(slots.stt?.ids).toEqual(['remote', 'svc-stt', 'other']);
    expect(slots.stt?.ids.map((id) => slots.stt?.get(id)?.languages)).toEqual([undefined, ['en'], ['en']]);
    expect(slots.stt?.get('svc-stt')?.ready()).toMatchObject({ ready: true });
    await close();
    expect(slots.stt?.get('svc-stt')?.ready().ready).toBe(false);
  });

  it.each([
    ['base', /config\.json of 'whisper-base-ct2' is missing .*models fetch/],
    ['/no/such/folder', /the folder \/no\/such\/folder does not contain .*model\.bin/],
  ])('name the missing file of the weights %s in the error', async (weights, message) => {
    const sttModels = new Map(Object.entries({ 'svc-stt': { kind: 'whisper', weights } as const }));
    const opening = open({
      needs: new Set(['stt']),
      models: { transcription: sttModels },
      modelsDir: await tempDir(),
    });
    await expect(opening).rejects.toThrow(message);
  });

  it('have embedding models in the order of CONFIG and count upstream calls by model', async () => {
    const counter = vi.fn(noMetrics.counter);
    const remote = {
      kind: 'upstream',
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKey: undefined,
      model: 'any',
    } as const;
    const embedModels = new Map(Object.entries({ remote, own: { kind: 'minilm' } as const }));
    const { slots, close } = await open({
      needs: new Set(['embed']),
      models: { embeddings: embedModels },
      metrics: { ...noMetrics, counter },
    });
    expect(Object.keys(slots)).toEqual(['embed']);
    expect(slots.embed?.ids).toEqual(['remote', 'own']);
    expect(slots.embed?.ids.map((id) => slots.embed?.get(id)?.maxTokens)).toEqual([undefined, 512]);
    expect(counter.mock.calls.map(([name]) => name)).toContain('upstream_calls_total');
    await close();
    expect(slots.embed?.get('own')?.ready().ready).toBe(false);
  });

  it('have language models in the order of CONFIG', async () => {
    const small: LlamaModelSettings = {
      kind: 'llama',
      weights: 'smollm2-135m-instruct',
      slots: 1,
      contextTokens: 256,
      defaultMaxTokens: 256,
    };
    const remote: UpstreamModelSettings = {
      kind: 'upstream',
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKey: undefined,
      model: 'any',
    };
    const textModels = new Map(Object.entries({ remote, small }));
    const { slots, close } = await open({ needs: new Set(['text']), models: { chat: textModels } });
    expect(Object.keys(slots)).toEqual(['text']);
    expect(slots.text?.ids).toEqual(['remote', 'small']);
    expect(slots.text?.ids.map((id) => slots.text?.get(id)?.contextTokens)).toEqual([undefined, 256]);
    expect(slots.text?.get('small')?.ready()).toMatchObject({ ready: true });
    await close();
    expect(slots.text?.get('small')?.ready().ready).toBe(false);
    const missing = new Map(Object.entries({ small, own: { ...small, weights: '/no/such.gguf' } }));
    const opening = open({ needs: new Set(['text']), models: { chat: missing } });
    await expect(opening).rejects.toMatchObject({
      name: 'StartError',
      message: 'CONFIG: GGUF file not found: /no/such.gguf.',
    });
  });

  it('are closed when a later one fails to open', async () => {
    const { spawn: real } = Bun;
    const spawn = vi.spyOn(Bun, 'spawn');
    onTestFinished(() => spawn.mockRestore());
    spawn.mockImplementationOnce(real).mockImplementationOnce(() => {
      throw new Error('EAGAIN');
    });
    const ttsModels = new Map(Object.entries({ 'svc-tts': PIPER }));
    await expect(
      open({ needs: new Set(['tts', 'vad']), models: { speech: ttsModels } }),
    ).rejects.toMatchObject({
      name: 'StartError',
      message: 'EAGAIN',
    });
    const [pool] = spawn.mock.results.map(({ value }) => value as Bun.Subprocess);
    expect(await pool?.exited).toBeGreaterThan(0);
    expect(pool?.signalCode).toBe('SIGKILL');
  });
});

describe('video models', () => {
  it('are embedded or upstream, and describe whether they use the prompt', async () => {
    const server = { kind: 'upstream', baseUrl: 'http://127.0.0.1:1/v1', apiKey: undefined } as const;
    const remote = { ...server, model: 'own', tailSeconds: 2, contextFrames: 5, audio: false, fields: {} };
    const { slots, close } = await open({
      needs: new Set(['video']),
      models: {
        video: new Map<string, ModelSettings>([
          ['vid-2.0', { kind: 'continuation' }],
          ['remote', remote],
        ]),
      },
    });
    onTestFinished(close);
    expect(slots.video?.ids).toEqual(['vid-2.0', 'remote']);
    expect(slots.video?.get('vid-2.0')).toMatchObject({
      audio: true,
      note: expect.stringContaining('prompt'),
    });
    expect(slots.video?.get('remote')).toMatchObject({ audio: false, note: undefined });
  });
});

describe('stored voices', () => {
  it('need no fit without a Kokoro model in CONFIG, and speakers are still encoded', async () => {
    const { slots, close } = await open({ needs: new Set(['speakers', 'voiceFitter']) });
    onTestFinished(close);
    expect(slots.voiceFitter?.isNeeded).toBe(false);
    const work = { priority: 'interactive', fairnessKey: 'key' } as const;
    const { partials } =
      (await slots.speakers?.encodeSpeaker(voiceSound(120, 3), work, new AbortController().signal)) ?? {};
    expect(partials?.length).toBeGreaterThan(1);
  });
});

inDeepTier(() => {
  it('opens fast speech when it is needed, while the other models keep running', async () => {
    const { slots, parts, close } = await open({
      needs: new Set(['tts', 'fastSpeech']),
      models: { speech: new Map([['svc-tts', KOKORO]]) },
    });
    onTestFinished(close);
    const signal = new AbortController().signal;
    const request: SynthesisRequest = {
      text: 'Hello.',
      speed: 1,
      delivery: 'whole',
      priority: 'realtime',
      fairnessKey: 'key',
    };
    const samplesOf = async (engine: TtsEngine | undefined) => {
      let count = 0;
      for await (const samples of engine?.synthesize(request, signal) ?? []) count += samples.length;
      return count;
    };
    const running = samplesOf(slots.tts?.get('svc-tts'));
    const [fast, same] = await Promise.all([slots.fastSpeech?.open(), slots.fastSpeech?.open()]);
    expect(fast).toBe(same);
    expect(fast?.rateHz).toBe(22_050);
    expect(await samplesOf(fast)).toBeGreaterThan(5_000);
    expect(await running).toBeGreaterThan(5_000);
    // A change of the needed slots retains it.
    await parts.provide(new Set(['tts', 'fastSpeech', 'vad']));
    expect(await samplesOf(fast)).toBeGreaterThan(5_000);
    expect(await samplesOf(slots.tts?.get('svc-tts'))).toBeGreaterThan(5_000);
  });
});
