import { describe, expect, it } from 'vitest';
import { ttsEngineCases } from '../../test/cases/tts-engine.cases.ts';
import { noMetrics, silentLog } from '../../test/support/doubles.ts';
import { pcmAnswer, startFakeUpstream } from '../../test/support/fake-upstream.ts';
import { tempDir } from '../../test/support/temp-dir.ts';
import { loadConfig } from '../config.ts';
import type { TtsModelSettings } from '../contract/settings.ts';
import { systemClock } from '../kit/clock.ts';
import { embeddedSpecs } from './embedded-models.ts';
import { openEngines } from './open-engines.ts';

const { modelsDir } = loadConfig(process.env);
const KOKORO: TtsModelSettings = { kind: 'kokoro', voice: 'af_heart' };
const PIPER: TtsModelSettings = { kind: 'piper', voice: 'en_US-joe-medium' };

async function openTable(models: Record<string, TtsModelSettings>, dir = modelsDir) {
  const { slots, close } = await openEngines({
    needs: new Set(['tts']),
    ttsModels: new Map(Object.entries(models)),
    sttModels: new Map(),
    inference: { provider: 'cpu', workers: 1, threads: 2, queueLimit: 64, environment: {} },
    modelsDir: dir,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  if (slots.tts === undefined) throw new Error('the slot that was needed is empty');
  return { table: slots.tts, close };
}

async function openEngine(settings: TtsModelSettings) {
  const { table, close } = await openTable({ it: settings });
  const engine = table.get('it');
  if (engine === undefined) throw new Error('the table lacks its only model');
  return { engine, close };
}

ttsEngineCases('kokoro', () => openEngine(KOKORO), { isSpeech: true });
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

describe('the table', () => {
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

  it('has every voice of CONFIG loaded before the first customer asks', () => {
    const adam: TtsModelSettings = { kind: 'kokoro', voice: 'am_adam' };
    const models = new Map(Object.entries({ a: KOKORO, b: PIPER, c: adam, d: KOKORO }));
    expect(embeddedSpecs({ tts: models, stt: new Map() }, modelsDir)).toMatchObject({
      kokoro: { kind: 'kokoro', voices: ['af_heart', 'am_adam'] },
      piper: { kind: 'piper' },
    });
  });

  it.each([
    ['kokoro', /'nobody' is no voice of kokoro; allowed: .*af_heart/],
    ['piper', /'nobody' is no voice of piper; allowed: en_US-joe-medium\./],
  ] as const)('names the voices of %s when CONFIG names another', async (kind, message) => {
    await expect(openTable({ it: { kind, voice: 'nobody' } })).rejects.toThrow(message);
  });

  it.each([KOKORO, PIPER])('says which file of $kind is missing', async (settings) => {
    await expect(openTable({ it: settings }, await tempDir())).rejects.toThrow(/is missing .*models fetch/);
  });
});
