import { expect, test } from 'vitest';
import { turnSignals } from '../../../../test/media/turn-signals.ts';
import { LogMel } from '../../whisper/shared/log-mel.ts';
import reference from '../fixtures/reference.json' with { type: 'json' };
import { WINDOW_SAMPLES } from '../shared/protocol.ts';
import { FRAMES, MEL_BANDS, turnFeatures } from './features.ts';

/** Distances of the reference values, in bands and frames. */
const BAND_STEP = 13;
const FRAME_STEP = 53;
const mel = new LogMel(MEL_BANDS);

// The values were computed in Python with the feature extraction of pipecat-ai 1.14.0.
test.each(Object.entries(turnSignals()))('matches the reference implementation: %s', (name, samples) => {
  const { mean, meanSquare, values } = reference[name as keyof typeof reference];
  const features = turnFeatures(samples.slice(-WINDOW_SAMPLES), mel);
  expect(features.length).toBe(MEL_BANDS * FRAMES);
  const average = (of: (value: number) => number) =>
    features.reduce((sum, value) => sum + of(value), 0) / features.length;
  expect(average((value) => value)).toBeCloseTo(mean, 4);
  expect(average((value) => value * value)).toBeCloseTo(meanSquare, 4);
  let worst = 0;
  for (const [row, bands] of values.entries()) {
    for (const [column, value] of bands.entries()) {
      const actual = features[row * BAND_STEP * FRAMES + column * FRAME_STEP] ?? Number.NaN;
      worst = Math.max(worst, Math.abs(actual - value));
    }
  }
  expect(worst).toBeLessThan(1e-4);
});

test('silence before short audio changes nothing', () => {
  const { 'voice of 1.5 s': samples = new Float32Array(0) } = turnSignals();
  const padded = new Float32Array(2 * samples.length);
  padded.set(samples, samples.length);
  expect(turnFeatures(padded, mel)).toEqual(turnFeatures(samples, mel));
});
