import { beforeAll, expect, test } from 'vitest';
import { PRESET_VOICES } from '../../src/engines/kokoro/host/preset-voices.ts';
import { blendFor } from '../../src/engines/kokoro/host/voice-blend.ts';
import { kokoroFitter } from '../../src/engines/kokoro/host/voice-fitter.ts';
import { cosineSimilarity } from '../../src/engines/speakers/host/voice-print.ts';
import {
  openVoiceMeasurements,
  type VoiceMeasurements,
} from '../../tools/harness/models/voice-measurements.ts';
import { measurePreset } from '../../tools/measure-presets.ts';

/** Stored voices with the real Kokoro and Resemblyzer models; voice-blend.test.ts covers the computation. */

let measurements: VoiceMeasurements;
beforeAll(async () => {
  measurements = await openVoiceMeasurements();
  return () => measurements.close();
});

test('the table has the embedding and the pitch of the voices', async () => {
  for (const name of ['af_heart', 'bm_lewis']) {
    const preset = PRESET_VOICES.find((each) => each.name === name);
    const { embedding, pitchHz } = await measurePreset(measurements, name);
    expect(cosineSimilarity(embedding, preset?.embedding ?? embedding.subarray(0, 0))).toBeGreaterThan(0.99);
    expect(pitchHz / (preset?.pitchHz ?? 0)).toBeCloseTo(1, 1);
  }
});

test('the blend for a clip of another voice is closer to it than the default voice', async () => {
  const clip = 'Nobody expected rain, but the clouds over the hills were growing darker.';
  const speaker = await measurements.measure({ kind: 'preset', name: 'am_adam' }, clip);
  expect(blendFor(speaker, PRESET_VOICES).timbre.am_adam).toBeGreaterThan(0.4);
  const adaptation = kokoroFitter.createAdaptation(speaker);

  const text = 'Please leave your umbrella by the door.';
  const blended = await measurements.measure({ kind: 'adaptation', adaptation }, text);
  const usual = await measurements.measure({ kind: 'preset', name: 'af_heart' }, text);
  expect(cosineSimilarity(blended.embedding, speaker.embedding)).toBeGreaterThan(
    cosineSimilarity(usual.embedding, speaker.embedding) + 0.1,
  );
});
