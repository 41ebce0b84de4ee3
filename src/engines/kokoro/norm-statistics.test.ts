import { describe, expect, test } from 'vitest';
import { STATISTICS_LENGTH } from './generator-graph.ts';
import {
  countKinds,
  energyThresholds,
  FRAME_KINDS,
  frameKinds,
  poolProfile,
  predictNorms,
} from './norm-statistics.ts';

const constant = (value: number) => new Float32Array(FRAME_KINDS * STATISTICS_LENGTH).fill(value);
const prosody = (pitch: number[], energy: number[]) => ({
  pitch: Float32Array.from(pitch),
  energy: Float32Array.from(energy),
});

describe('kinds of frames', () => {
  test('thresholds divide the energies of all utterances into thirds', () => {
    expect(energyThresholds([prosody([], [5, 1, 3]), prosody([], [2, 6, 4])])).toEqual([3, 5]);
    expect(energyThresholds([])).toEqual([0, 0]);
  });

  test('voicing and energy decide; a pitch of 10 Hz is not yet voiced', () => {
    const kinds = frameKinds(prosody([0, 10, 10.1, 200, 200, 0], [0, 1, 2, 3, 9, 9]), [1, 3]);
    expect([...kinds]).toEqual([0, 1, 4, 5, 5, 2]);
    expect(countKinds(kinds)).toEqual([1, 1, 1, 0, 1, 2]);
  });
});

describe('a voice profile', () => {
  test('weighs utterances by their frames, and fills kinds that never occurred with the average', () => {
    const profile = poolProfile(
      [1, 2],
      [
        { counts: [1, 0, 0, 1, 0, 0], mean: constant(2), square: constant(8) },
        { counts: [3, 0, 0, 0, 0, 0], mean: constant(6), square: constant(40) },
      ],
    );
    expect(profile.mean[0]).toBe(5);
    expect(profile.mean[3 * STATISTICS_LENGTH]).toBe(2);
    expect(profile.mean[STATISTICS_LENGTH]).toBeCloseTo((2 + 2 + 18) / 5, 5);
    expect(profile.square[0]).toBe(32);
  });
});

describe('predicted norms', () => {
  const mean = constant(0);
  const square = constant(0);
  // Silence: mean 1, deviation 2. Loud and voiced: mean 3, deviation 4.
  mean.fill(1, 0, STATISTICS_LENGTH);
  square.fill(5, 0, STATISTICS_LENGTH);
  mean.fill(3, 5 * STATISTICS_LENGTH);
  square.fill(25, 5 * STATISTICS_LENGTH);
  const profile = { energyThresholds: [1, 2], mean, square };
  const style = new Float32Array(2 * STATISTICS_LENGTH);
  style.fill(0.5, 0, 100);
  style.fill(-1, 100, 200);
  const norms = [100, STATISTICS_LENGTH - 100];

  test('of an utterance of one kind are that kind’s', () => {
    const { gain, offset } = predictNorms(profile, prosody([0, 0], [0, 0]), style, norms);
    expect(gain[0]).toBeCloseTo(1.5 / 2, 5);
    expect(offset[0]).toBeCloseTo(-1 - 0.75, 5);
    expect(gain[100]).toBeCloseTo(1 / 2, 5);
    expect(offset[100]).toBeCloseTo(-0.5, 5);
  });

  test('of a mixed utterance count the distance between the kinds as variance', () => {
    const { gain } = predictNorms(profile, prosody([0, 200], [0, 9]), style, norms);
    // mean 2, mean square 15, so variance 11
    expect(gain[100]).toBeCloseTo(1 / Math.sqrt(11), 5);
  });

  test('a channel without variance does not blow up', () => {
    const flat = { energyThresholds: [1, 2], mean: constant(3), square: constant(9) };
    const { gain } = predictNorms(flat, prosody([0], [0]), style, norms);
    expect(gain[100]).toBeCloseTo(1 / Math.sqrt(1e-5), 0);
  });
});
