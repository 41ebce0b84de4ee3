import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Resampler } from '../../src/audio/resampler.ts';
import { loadConfig } from '../../src/config/config.ts';
import { LISTEN_RATE_HZ, SPEECH_RATE_HZ } from '../../src/contract/engines/audio.ts';
import type { VoiceWork } from '../../src/contract/engines/voice.ts';
import { kokoroFitter } from '../../src/engines/kokoro/host/voice-fitter.ts';
import { readMix } from '../../src/engines/kokoro/shared/voice-mix.ts';
import { inferencePool } from '../../src/engines/pool/inference-pool.ts';
import type { ModelVoice, SpeechRequest } from '../../src/engines/pool/model.ts';
import type { ModelSpec } from '../../src/engines/pool/model-spec.ts';
import { poolMeter } from '../../src/engines/pool/pool-metrics.ts';
import { cosineSimilarity, encodeVoice } from '../../src/engines/speakers/host/voice-print.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';

/** The voice fitter with the real Kokoro and Resemblyzer models; voice-fitter.test.ts covers the search with fake ones. */

const MODELS = { speech: 'kokoro', speakers: 'resemblyzer' };
const WORK: VoiceWork = { priority: 'interactive', fairnessKey: 'key' };
const NO_SIGNAL = new AbortController().signal;

test('fits a clip of a preset voice more closely than the default voice', async () => {
  const { modelsDir, inference } = loadConfig(process.env);
  const pool = inferencePool<ModelSpec>({
    entry: fileURLToPath(new URL('../../src/engines/inference-worker.ts', import.meta.url)),
    models: {
      kokoro: { kind: 'kokoro', modelsDir, voices: ['af_heart'] },
      resemblyzer: { kind: 'resemblyzer', modelsDir },
    },
    settings: { ...inference, workers: 1 },
    ...{ clock: systemClock, log: silentLog, meter: poolMeter(noMetrics) },
  });
  onTestFinished(() => pool.close());
  await pool.start();
  const say = async (text: string, voice: ModelVoice) => {
    const request: SpeechRequest = { text, voice, speed: 1, delivery: 'whole' };
    const runs: Float32Array<ArrayBuffer>[] = [];
    const work = { request, ...WORK, delivery: 'whole' } as const;
    for await (const chunk of pool.runJob<SpeechRequest, Float32Array<ArrayBuffer>>(
      'kokoro',
      work,
      NO_SIGNAL,
    )) {
      runs.push(chunk);
    }
    const resampler = new Resampler({ fromHz: SPEECH_RATE_HZ, toHz: LISTEN_RATE_HZ, format: 'float32' });
    const spoken = joined(runs);
    return joined([resampler.push(spoken), resampler.flush()]);
  };
  const print = (samples: Float32Array<ArrayBuffer>) =>
    encodeVoice(pool, 'resemblyzer', { samples, rateHz: LISTEN_RATE_HZ }, WORK, NO_SIGNAL);

  const fitter = kokoroFitter({
    ...{
      models: MODELS,
      pool,
      backgroundPool: pool,
      defaultVoice: 'af_heart',
      presets: ['am_adam'],
      modelsDir,
    },
    ...{ clock: systemClock, log: silentLog },
  });
  onTestFinished(() => fitter.close());
  const clip = await say('Nobody expected rain, but the clouds over the hills were growing darker.', {
    kind: 'preset',
    name: 'am_adam',
  });
  // A budget of 0 measures the voices.
  for await (const _ of fitter.improveAdaptation(clip, '', 0, 'key', NO_SIGNAL));
  const speaker = await print(clip);
  let adaptation = fitter.createInitial(speaker);
  expect(readMix(adaptation)?.timbre.am_adam).toBeGreaterThan(0.7);
  for await (const better of fitter.improveAdaptation(clip, adaptation, 3_000, 'key', NO_SIGNAL))
    adaptation = better;

  const text = 'Please leave your umbrella by the door.';
  const own = await print(await say(text, { kind: 'adaptation', adaptation }));
  const usual = await print(await say(text, { kind: 'preset', name: 'af_heart' }));
  expect(cosineSimilarity(own.embedding, speaker.embedding)).toBeGreaterThan(
    cosineSimilarity(usual.embedding, speaker.embedding) + 0.1,
  );
});
