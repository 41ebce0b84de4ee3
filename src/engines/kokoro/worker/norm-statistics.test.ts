import { describe, expect, test } from 'vitest';
import { STATISTICS_LENGTH } from '../import/generator-graph.ts';
import {
  countKinds,
  energyThresholds,
  FRAME_KINDS,
  frameKinds,
  mixProfiles,
  type NormProfile,
  poolProfile,
  WindowStatistics,
} from './norm-statistics.ts';

const constant = (value: number) => new Float32Array(FRAME_KINDS * STATISTICS_LENGTH).fill(value);
const prosody = (pitch: number[], energy: number[]) => ({
  pitch: Float32Array.from(pitch),
  energy: Float32Array.from(energy),
});

describe('frame kinds', () => {
  test('are separated by thresholds that divide the energies of all utterances into thirds', () => {
    expect(energyThresholds([prosody([], [5, 1, 3]), prosody([], [2, 6, 4])])).toEqual([3, 5]);
    expect(energyThresholds([])).toEqual([0, 0]);
  });

  test('depend on voicing and energy; a pitch of 10 Hz is unvoiced', () => {
    const kinds = frameKinds(prosody([0, 10, 10.1, 200, 200, 0], [0, 1, 2, 3, 9, 9]), [1, 3]);
    expect([...kinds]).toEqual([0, 1, 4, 5, 5, 2]);
    expect(countKinds(kinds)).toEqual([1, 1, 1, 0, 1, 2]);
  });
});

describe('poolProfile', () => {
  test('weights utterances by their number of frames and fills missing kinds with the average', () => {
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

describe('mixProfiles', () => {
  const voice = (mean: number, variance: number, thresholds: number[]) => ({
    energyThresholds: thresholds,
    mean: constant(mean),
    square: constant(mean * mean + variance),
  });
  const [one, other] = [voice(1, 4, [1, 3]), voice(3, 16, [2, 7])];
  const variance = (profile: NormProfile) => (profile.square[0] ?? 0) - (profile.mean[0] ?? 0) ** 2;

  test('returns the profile of a single voice', () => {
    const mixed = mixProfiles([{ profile: one, weight: 1 }], [{ profile: one, weight: 1 }]);
    expect(mixed.energyThresholds).toEqual([1, 3]);
    expect(mixed.mean[0]).toBe(1);
    expect(mixed.square[0]).toBeCloseTo(5, 5);
  });

  test('interpolates two voices, with the thresholds of the prosody', () => {
    const halves = [
      { profile: one, weight: 0.5 },
      { profile: other, weight: 0.5 },
    ];
    const mixed = mixProfiles(halves, [{ profile: other, weight: 1 }]);
    expect(mixed.mean[0]).toBe(2);
    expect(variance(mixed)).toBeCloseTo(8, 4);
    expect(mixed.energyThresholds).toEqual([2, 7]);
  });

  test('bounds variances by those of the voices, even with extrapolated weights', () => {
    const extrapolated = (weight: number) =>
      mixProfiles(
        [
          { profile: one, weight: 1 - weight },
          { profile: other, weight },
        ],
        [{ profile: one, weight: 1 }],
      );
    expect(extrapolated(-1).mean[0]).toBe(-1);
    expect(variance(extrapolated(-1))).toBeCloseTo(4, 4);
    expect(variance(extrapolated(2))).toBeCloseTo(16, 3);
    const still = voice(0, 0, [0, 0]);
    expect(
      mixProfiles([{ profile: still, weight: 1 }], [{ profile: still, weight: 1 }]).square[0],
    ).toBeCloseTo(0, 6);
  });
});

describe('WindowStatistics', () => {
  const mean = constant(0);
  const square = constant(0);
  // Silence has mean 1 and mean square 5; loud voiced frames have mean 3 and mean square 25.
  mean.fill(1, 0, STATISTICS_LENGTH);
  square.fill(5, 0, STATISTICS_LENGTH);
  mean.fill(3, 5 * STATISTICS_LENGTH);
  square.fill(25, 5 * STATISTICS_LENGTH);
  const profile = { energyThresholds: [1, 2], mean, square };
  /** Silent frames, followed by loud voiced frames. */
  const utterance = (silent: number, loud: number) =>
    prosody(
      [...new Array(2 * silent).fill(0), ...new Array(2 * loud).fill(200)],
      [...new Array(2 * silent).fill(0), ...new Array(2 * loud).fill(9)],
    );
  /** Statistics of a window whose frames all have the given value, weighted. */
  const measured = (value: number, weight: number) => ({
    mean: new Float32Array(STATISTICS_LENGTH).fill(value * weight),
    square: new Float32Array(STATISTICS_LENGTH).fill(value * value * weight),
  });

  test('predicts frames that are not decoded yet from their kinds', () => {
    const statistics = new WindowStatistics(profile, utterance(10, 30));
    // The window contains the silent frames; the remaining frames are loud.
    const before = statistics.inputFor({ start: 0, end: 10 });
    expect(before.share).toBeCloseTo(1 / 40, 6);
    expect(before.mean[0]).toBeCloseTo((30 * 3) / 40, 5);
    expect(before.square[0]).toBeCloseTo((30 * 25) / 40, 5);
  });

  test('equals the measured statistics after the last window', () => {
    const statistics = new WindowStatistics(profile, utterance(10, 30));
    const first = statistics.inputFor({ start: 0, end: 10 });
    statistics.recordWindow({ start: 0, end: 10 }, first.share, measured(7, 10 * first.share));
    const last = statistics.inputFor({ start: 10, end: 40 });
    expect(last.share).toBeCloseTo(1 / 40, 6);
    // Ten frames have mean 7; the window adds the rest itself.
    expect(last.mean[0]).toBeCloseTo((10 * 7) / 40, 4);
    expect(last.square[0]).toBeCloseTo((10 * 49) / 40, 4);
  });

  test('limits the weight of a long prediction', () => {
    const statistics = new WindowStatistics(profile, utterance(0, 4000));
    const before = statistics.inputFor({ start: 0, end: 40 });
    expect(before.share).toBeCloseTo(1 / 140, 6);
    expect(before.mean[0]).toBeCloseTo((100 * 3) / 140, 4);
  });
});
