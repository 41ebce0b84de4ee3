import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { noMetrics, silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import { joined } from '../../../../tools/harness/media/sample-runs.ts';
import { Resampler } from '../../../audio/resampler.ts';
import { loadConfig } from '../../../config/config.ts';
import { LISTEN_RATE_HZ, SPEECH_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { VoiceWork } from '../../../contract/engines/voice.ts';
import { systemClock } from '../../../kit/clock.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import { type InferencePool, inferencePool } from '../../pool/inference-pool.ts';
import type { PassWork } from '../../pool/job.ts';
import type { PassVoice, SpeechRequest } from '../../pool/model.ts';
import type { ModelSpec } from '../../pool/model-spec.ts';
import { poolMeter } from '../../pool/pool-metrics.ts';
import { likeness, voicePrint } from '../../speakers/host/voice-print.ts';
import { EMBEDDING_SIZE } from '../../speakers/import/graph.ts';
import type { SpeakerRequest, SpeakerResult } from '../../speakers/shared/protocol.ts';
import { type KokoroMix, readMix, type VoiceWeights, writeMix } from '../shared/voice-mix.ts';
import { TRIAL_TEXTS } from './preset-table.ts';
import { type KokoroFitterOptions, kokoroFitter, NO_FITTER } from './voice-fitter.ts';

const PRESETS = ['af_heart', 'am_adam', 'bf_emma', 'bm_lewis'];
const MODELS = { speech: 'kokoro', speakers: 'resemblyzer' };
const WORK: VoiceWork = { priority: 'interactive', owner: 'key' };
const NEVER = new AbortController().signal;
/** A clip in the fake world: its voice is half of each of the two last presets. */
const CLIP = Float32Array.of(-1);
const TARGET: VoiceWeights = { bf_emma: 0.5, bm_lewis: 0.5 };
const SPEAKER = { embedding: printOf(TARGET), partials: [], pitchHz: 150 };

/** A pool in which samples are the number of what was said, and a print is made of the weights of its timbre. */
class FakePool implements Pick<InferencePool, 'run' | 'description'> {
  readonly asked: { readonly model: string; readonly priority: string; readonly owner: string }[] = [];
  readonly said: { readonly voice: PassVoice | undefined; readonly text: string }[] = [];
  /** Called before each job. */
  onJob = (): void => undefined;

  description<Description>(): Description {
    return { rateHz: SPEECH_RATE_HZ, speaksAdaptations: true } as Description;
  }

  async *run<Request, Result>(
    model: string,
    { request, priority, owner }: PassWork<Request, Result>,
    signal: AbortSignal,
  ): AsyncGenerator<Result, void, undefined> {
    signal.throwIfAborted();
    this.onJob();
    signal.throwIfAborted();
    this.asked.push({ model, priority, owner });
    if (model === MODELS.speech) {
      const { voice, text } = request as SpeechRequest;
      this.said.push({ voice, text });
      // Three seconds in two runs.
      const run = new Float32Array(1.5 * SPEECH_RATE_HZ).fill(this.said.length - 1);
      yield run as Result;
      yield run as Result;
      return;
    }
    const { samples } = request as SpeakerRequest;
    const results: SpeakerResult[] = [
      { kind: 'pitch', hz: 150 },
      { kind: 'runs', embeddings: this.#print(samples[0] ?? 0) },
    ];
    for (const result of results) yield result as Result;
  }

  #print(said: number): Float32Array<ArrayBuffer> {
    if (said < 0) return printOf(TARGET);
    const { bm_lewis: lewis, ...others } = timbreOf(this.said[said]?.voice);
    // The last voice sounds in a mix as if there were half as much of it.
    return printOf(lewis === undefined ? others : { ...others, bm_lewis: lewis ** 2 });
  }
}

function printOf(weights: VoiceWeights): Float32Array<ArrayBuffer> {
  const print = new Float32Array(EMBEDDING_SIZE).fill(0.03);
  for (const [name, weight] of Object.entries(weights)) print[PRESETS.indexOf(name)] = weight;
  return unitVector(print);
}

function timbreOf(voice: PassVoice | undefined): VoiceWeights {
  if (voice?.kind === 'adaptation') return mixOf(voice.adaptation).timbre;
  return { [voice?.name ?? '']: 1 };
}

function mixOf(adaptation: string | undefined): KokoroMix {
  const mix = readMix(adaptation ?? '');
  if (!mix) throw new Error('no mix');
  return mix;
}

async function setUp(options: Partial<KokoroFitterOptions> = {}) {
  const [pool, lastPool] = [new FakePool(), new FakePool()];
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const fitter = kokoroFitter({
    ...{ models: MODELS, pool: pool as unknown as InferencePool, lastPool, presets: PRESETS },
    ...{ defaultVoice: 'af_heart', modelsDir: await tempDir(), clock, log: silentLog },
    ...options,
  });
  onTestFinished(() => fitter.close());
  const improved = async (from: string, budgetMs: number, signal = NEVER) => {
    const better: string[] = [];
    for await (const adaptation of fitter.improve(CLIP, from, budgetMs, 'key', signal))
      better.push(adaptation);
    return better;
  };
  // Each job in the background takes a second.
  lastPool.onJob = () => {
    nowMs += 1_000;
  };
  return { fitter, pool, lastPool, improved };
}

/** When the model's own voices were measured. */
async function prepared(options: Partial<KokoroFitterOptions> = {}) {
  const all = await setUp(options);
  await all.improved('', 0);
  all.lastPool.asked.length = 0;
  return all;
}

describe('begin', () => {
  test('asks no model', async () => {
    const { fitter, pool, lastPool } = await prepared();
    const mix = mixOf(fitter.begin(SPEAKER));
    expect([pool.asked, lastPool.asked]).toEqual([[], []]);
    expect(mix.timbre.bf_emma).toBeGreaterThan(0.3);
    expect(mix.timbre.bm_lewis).toBeGreaterThan(0.3);
    expect(fitter.isCurrent(fitter.begin(SPEAKER))).toBe(true);
  });

  test('before any voice was measured gives the default voice', async () => {
    const lastPool = new FakePool();
    lastPool.onJob = () => {
      throw new Error('no process');
    };
    const { fitter } = await setUp({ lastPool });
    const mix = mixOf(fitter.begin(SPEAKER));
    expect(mix).toEqual({ timbre: { af_heart: 1 }, prosody: { af_heart: 1 }, pitchScale: 1 });
  });
});

describe('improve', () => {
  test('works where nobody waits, for the owner, and gets nearer', async () => {
    const { fitter, pool, lastPool, improved } = await prepared();
    const first = fitter.begin(SPEAKER);
    pool.asked.length = 0;
    const better = await improved(first, 100_000);
    expect(pool.asked).toEqual([]);
    expect(new Set(lastPool.asked.map(({ priority, owner }) => `${priority} ${owner}`))).toEqual(
      new Set(['batch key']),
    );
    expect(better.length).toBeGreaterThan(0);
    const lewis = (adaptation: string | undefined) => mixOf(adaptation).timbre.bm_lewis ?? 0;
    expect(lewis(better.at(-1))).toBeGreaterThan(lewis(first) + 0.05);
    expect(new Set(lastPool.said.map(({ text }) => text))).toEqual(new Set(TRIAL_TEXTS));
  });

  test('gives the same for the same clip', async () => {
    const [one, other] = [await prepared(), await prepared()];
    const first = one.fitter.begin(SPEAKER);
    expect(await one.improved(first, 60_000)).toEqual(await other.improved(first, 60_000));
  });

  test('ends when its time is used up, and by itself when nothing more is gained', async () => {
    const { fitter, lastPool, improved } = await prepared();
    const first = fitter.begin(SPEAKER);
    await improved(first, 30_000);
    // The clip is heard before that, and a candidate that was begun to its end: two texts, spoken and listened to.
    expect(lastPool.asked.length).toBeLessThanOrEqual(1 + 30 + 4);
    lastPool.asked.length = 0;
    await improved(first, 100_000_000);
    expect(lastPool.asked.length).toBeLessThan(5_000);
  });

  test('tries what the prints speak for, however little of the machine is left', async () => {
    const { lastPool, improved } = await prepared();
    const alone = writeMix({ timbre: { af_heart: 1 }, prosody: { af_heart: 1 }, pitchScale: 1 });
    const better = await improved(alone, 1);
    expect(mixOf(better.at(-1)).timbre.bm_lewis).toBeGreaterThan(0.3);
    expect(lastPool.asked.length).toBeLessThanOrEqual(1 + 5 * 4);
  });

  test('stops at once when it is to stop', async () => {
    const { fitter, lastPool, improved } = await prepared();
    const first = fitter.begin(SPEAKER);
    const stop = new AbortController();
    const before = lastPool.asked.length;
    const count = lastPool.onJob;
    lastPool.onJob = () => {
      count();
      if (lastPool.asked.length === before + 5) stop.abort(new Error('stopped'));
    };
    await expect(improved(first, 60_000, stop.signal)).rejects.toThrow('stopped');
    expect(lastPool.asked.length).toBe(before + 5);
  });

  test('leaves voices as they are when the model’s own could not be measured', async () => {
    const lastPool = new FakePool();
    lastPool.onJob = () => {
      throw new Error('no process');
    };
    const { improved } = await setUp({ lastPool });
    expect(await improved('', 60_000)).toEqual([]);
  });
});

test('where no model is fitted nothing is', async () => {
  expect(NO_FITTER.isNeeded).toBe(false);
  expect(NO_FITTER.isCurrent('')).toBe(false);
  expect(() => NO_FITTER.begin(SPEAKER)).toThrow('no model here');
  await expect(NO_FITTER.improve(CLIP, '', 1, 'key', NEVER).next()).rejects.toThrow('no model here');
});

test('the real model comes nearer to a voice of its own than its default voice is', async () => {
  const { modelsDir, inference } = loadConfig(process.env);
  const pool = inferencePool<ModelSpec>({
    entry: fileURLToPath(new URL('../../inference-worker.ts', import.meta.url)),
    models: {
      kokoro: { kind: 'kokoro', modelsDir, voices: ['af_heart'] },
      resemblyzer: { kind: 'resemblyzer', modelsDir },
    },
    settings: { ...inference, workers: 1 },
    ...{ clock: systemClock, log: silentLog, meter: poolMeter(noMetrics) },
  });
  onTestFinished(() => pool.close());
  await pool.start();
  const say = async (text: string, voice: PassVoice) => {
    const request: SpeechRequest = { text, voice, speed: 1, delivery: 'whole' };
    const runs: Float32Array<ArrayBuffer>[] = [];
    const work = { request, ...WORK, delivery: 'whole' } as const;
    for await (const run of pool.run<SpeechRequest, Float32Array<ArrayBuffer>>('kokoro', work, NEVER)) {
      runs.push(run);
    }
    const resampler = new Resampler({ fromHz: SPEECH_RATE_HZ, toHz: LISTEN_RATE_HZ, format: 'float32' });
    const spoken = joined(runs);
    return joined([resampler.push(spoken), resampler.flush()]);
  };
  const print = (samples: Float32Array<ArrayBuffer>) =>
    voicePrint(pool, 'resemblyzer', { samples, rateHz: LISTEN_RATE_HZ }, WORK, NEVER);

  const fitter = kokoroFitter({
    ...{ models: MODELS, pool, lastPool: pool, defaultVoice: 'af_heart', presets: ['am_adam'], modelsDir },
    ...{ clock: systemClock, log: silentLog },
  });
  onTestFinished(() => fitter.close());
  const clip = await say('Nobody expected rain, but the clouds over the hills were growing darker.', {
    kind: 'preset',
    name: 'am_adam',
  });
  // Nothing is tried, but the voices are measured.
  for await (const _ of fitter.improve(clip, '', 0, 'key', NEVER));
  const speaker = await print(clip);
  let adaptation = fitter.begin(speaker);
  expect(mixOf(adaptation).timbre.am_adam).toBeGreaterThan(0.7);
  for await (const better of fitter.improve(clip, adaptation, 3_000, 'key', NEVER)) adaptation = better;

  const text = 'Please leave your umbrella by the door.';
  const own = await print(await say(text, { kind: 'adaptation', adaptation }));
  const usual = await print(await say(text, { kind: 'preset', name: 'af_heart' }));
  expect(likeness(own.embedding, speaker.embedding)).toBeGreaterThan(
    likeness(usual.embedding, speaker.embedding) + 0.1,
  );
}, 240_000);
