import { describe, expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import { SPEECH_RATE_HZ } from '../../../contract/engines/audio.ts';
import { systemClock } from '../../../kit/clock.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import type { InferencePool } from '../../pool/inference-pool.ts';
import type { JobSpec } from '../../pool/job.ts';
import type { ModelVoice, SpeechRequest } from '../../pool/model.ts';
import { EMBEDDING_SIZE } from '../../speakers/import/graph.ts';
import type { SpeakerRequest, SpeakerResult } from '../../speakers/shared/protocol.ts';
import { type KokoroMix, readMix, type VoiceWeights, writeMix } from '../shared/voice-mix.ts';
import { TRIAL_TEXTS } from './preset-table.ts';
import { type KokoroFitterOptions, kokoroFitter, NO_FITTER } from './voice-fitter.ts';

const PRESETS = ['af_heart', 'am_adam', 'bf_emma', 'bm_lewis'];
const MODELS = { speech: 'kokoro', speakers: 'resemblyzer' };
const NO_SIGNAL = new AbortController().signal;
/** A clip whose speaker is halfway between the last two presets. */
const CLIP = Float32Array.of(-1);
const TARGET: VoiceWeights = { bf_emma: 0.5, bm_lewis: 0.5 };
const SPEAKER = { embedding: embeddingOf(TARGET), partials: [], pitchHz: 150 };

/**
 * A pool whose speech model fills the samples with the number of the request, and whose speaker model derives the
 * embedding from the timbre of that request.
 */
class FakePool implements Pick<InferencePool, 'runJob' | 'description'> {
  readonly jobs: { readonly model: string; readonly priority: string; readonly fairnessKey: string }[] = [];
  readonly speechRequests: { readonly voice: ModelVoice | undefined; readonly text: string }[] = [];
  /** Called before each job. */
  onJob = (): void => undefined;

  description<Description>(): Description {
    return { rateHz: SPEECH_RATE_HZ, supportsAdaptations: true } as Description;
  }

  async *runJob<Request, Result>(
    model: string,
    { request, priority, fairnessKey }: JobSpec<Request, Result>,
    signal: AbortSignal,
  ): AsyncGenerator<Result, void, undefined> {
    signal.throwIfAborted();
    this.onJob();
    signal.throwIfAborted();
    this.jobs.push({ model, priority, fairnessKey });
    if (model === MODELS.speech) {
      const { voice, text } = request as SpeechRequest;
      this.speechRequests.push({ voice, text });
      // Three seconds in two chunks.
      const chunk = new Float32Array(1.5 * SPEECH_RATE_HZ).fill(this.speechRequests.length - 1);
      yield chunk as Result;
      yield chunk as Result;
      return;
    }
    const { samples } = request as SpeakerRequest;
    const results: SpeakerResult[] = [
      { kind: 'pitch', hz: 150 },
      { kind: 'partials', embeddings: this.#print(samples[0] ?? 0) },
    ];
    for (const result of results) yield result as Result;
  }

  #print(speechRequests: number): Float32Array<ArrayBuffer> {
    if (speechRequests < 0) return embeddingOf(TARGET);
    const { bm_lewis: lewis, ...others } = timbreOf(this.speechRequests[speechRequests]?.voice);
    // The last voice is weaker in a mix than its weight, so that the search has something to improve.
    return embeddingOf(lewis === undefined ? others : { ...others, bm_lewis: lewis ** 2 });
  }
}

function embeddingOf(weights: VoiceWeights): Float32Array<ArrayBuffer> {
  const print = new Float32Array(EMBEDDING_SIZE).fill(0.03);
  for (const [name, weight] of Object.entries(weights)) print[PRESETS.indexOf(name)] = weight;
  return unitVector(print);
}

function timbreOf(voice: ModelVoice | undefined): VoiceWeights {
  if (voice?.kind === 'adaptation') return mixOf(voice.adaptation).timbre;
  return { [voice?.name ?? '']: 1 };
}

function mixOf(adaptation: string | undefined): KokoroMix {
  const mix = readMix(adaptation ?? '');
  if (!mix) throw new Error('not a mix');
  return mix;
}

async function setUp(options: Partial<KokoroFitterOptions> = {}) {
  const [pool, backgroundPool] = [new FakePool(), new FakePool()];
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const fitter = kokoroFitter({
    ...{ models: MODELS, pool: pool as unknown as InferencePool, backgroundPool, presets: PRESETS },
    ...{ defaultVoice: 'af_heart', modelsDir: await tempDir(), clock, log: silentLog },
    ...options,
  });
  onTestFinished(() => fitter.close());
  const collectImprovements = async (from: string, budgetMs: number, signal = NO_SIGNAL) => {
    const better: string[] = [];
    for await (const adaptation of fitter.improveAdaptation(CLIP, from, budgetMs, 'key', signal))
      better.push(adaptation);
    return better;
  };
  // Each background job takes a second.
  backgroundPool.onJob = () => {
    nowMs += 1_000;
  };
  return { fitter, pool, backgroundPool, collectImprovements };
}

/** A setup whose preset voices are measured. */
async function setUpMeasured(options: Partial<KokoroFitterOptions> = {}) {
  const setup = await setUp(options);
  await setup.collectImprovements('', 0);
  setup.backgroundPool.jobs.length = 0;
  return setup;
}

describe('begin', () => {
  test('does not run a model', async () => {
    const { fitter, pool, backgroundPool } = await setUpMeasured();
    const mix = mixOf(fitter.createInitial(SPEAKER));
    expect([pool.jobs, backgroundPool.jobs]).toEqual([[], []]);
    expect(mix.timbre.bf_emma).toBeGreaterThan(0.3);
    expect(mix.timbre.bm_lewis).toBeGreaterThan(0.3);
    expect(fitter.isCurrent(fitter.createInitial(SPEAKER))).toBe(true);
  });

  test('returns the default voice before any preset is measured', async () => {
    const backgroundPool = new FakePool();
    backgroundPool.onJob = () => {
      throw new Error('no process');
    };
    const { fitter } = await setUp({ backgroundPool });
    const mix = mixOf(fitter.createInitial(SPEAKER));
    expect(mix).toEqual({ timbre: { af_heart: 1 }, prosody: { af_heart: 1 }, pitchScale: 1 });
  });
});

describe('improve', () => {
  test('runs in the background pool, for the given key, and improves the mix', async () => {
    const { fitter, pool, backgroundPool, collectImprovements } = await setUpMeasured();
    const first = fitter.createInitial(SPEAKER);
    pool.jobs.length = 0;
    const better = await collectImprovements(first, 100_000);
    expect(pool.jobs).toEqual([]);
    expect(
      new Set(backgroundPool.jobs.map(({ priority, fairnessKey }) => `${priority} ${fairnessKey}`)),
    ).toEqual(new Set(['batch key']));
    expect(better.length).toBeGreaterThan(0);
    const lewis = (adaptation: string | undefined) => mixOf(adaptation).timbre.bm_lewis ?? 0;
    expect(lewis(better.at(-1))).toBeGreaterThan(lewis(first) + 0.05);
    expect(new Set(backgroundPool.speechRequests.map(({ text }) => text))).toEqual(new Set(TRIAL_TEXTS));
  });

  test('is deterministic for the same clip', async () => {
    const [one, other] = [await setUpMeasured(), await setUpMeasured()];
    const first = one.fitter.createInitial(SPEAKER);
    expect(await one.collectImprovements(first, 60_000)).toEqual(
      await other.collectImprovements(first, 60_000),
    );
  });

  test('finishes when its budget is used up or when candidates no longer improve', async () => {
    const { fitter, backgroundPool, collectImprovements } = await setUpMeasured();
    const first = fitter.createInitial(SPEAKER);
    await collectImprovements(first, 30_000);
    // In addition: the measurement of the clip, and the four jobs of a candidate that is already started.
    expect(backgroundPool.jobs.length).toBeLessThanOrEqual(1 + 30 + 4);
    backgroundPool.jobs.length = 0;
    await collectImprovements(first, 100_000_000);
    expect(backgroundPool.jobs.length).toBeLessThan(5_000);
  });

  test('measures the predicted mixes even without a budget', async () => {
    const { backgroundPool, collectImprovements } = await setUpMeasured();
    const alone = writeMix({ timbre: { af_heart: 1 }, prosody: { af_heart: 1 }, pitchScale: 1 });
    const better = await collectImprovements(alone, 1);
    expect(mixOf(better.at(-1)).timbre.bm_lewis).toBeGreaterThan(0.3);
    expect(backgroundPool.jobs.length).toBeLessThanOrEqual(1 + 5 * 4);
  });

  test('stops immediately when its signal is aborted', async () => {
    const { fitter, backgroundPool, collectImprovements } = await setUpMeasured();
    const first = fitter.createInitial(SPEAKER);
    const stop = new AbortController();
    const before = backgroundPool.jobs.length;
    const count = backgroundPool.onJob;
    backgroundPool.onJob = () => {
      count();
      if (backgroundPool.jobs.length === before + 5) stop.abort(new Error('stopped'));
    };
    await expect(collectImprovements(first, 60_000, stop.signal)).rejects.toThrow('stopped');
    expect(backgroundPool.jobs.length).toBe(before + 5);
  });

  test('yields no improvement when the presets could not be measured', async () => {
    const backgroundPool = new FakePool();
    backgroundPool.onJob = () => {
      throw new Error('no process');
    };
    const { collectImprovements } = await setUp({ backgroundPool });
    expect(await collectImprovements('', 60_000)).toEqual([]);
  });
});

test('NO_FITTER rejects every call', async () => {
  expect(NO_FITTER.isNeeded).toBe(false);
  expect(NO_FITTER.isCurrent('')).toBe(false);
  expect(() => NO_FITTER.createInitial(SPEAKER)).toThrow('no configured model');
  await expect(NO_FITTER.improveAdaptation(CLIP, '', 1, 'key', NO_SIGNAL).next()).rejects.toThrow(
    'no configured model',
  );
});
