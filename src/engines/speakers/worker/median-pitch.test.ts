import { describe, expect, test } from 'vitest';
import { voiceSound } from '../../../../test/media/voice-sound.ts';
import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { medianPitch } from './median-pitch.ts';

test.each([70, 90, 120, 180, 250, 330, 400])('estimates the pitch of a voice at %i Hz', (hz) => {
  for (const mouth of [1, 1.3]) {
    expect(Math.abs((medianPitch(voiceSound(hz, 2, mouth)) ?? 0) / hz - 1)).toBeLessThan(0.02);
  }
});

test('ignores pauses of a voice', () => {
  const voice = voiceSound(140, 1);
  const samples = new Float32Array(5 * LISTEN_RATE_HZ);
  samples.set(voice, LISTEN_RATE_HZ);
  samples.set(voice, 3 * LISTEN_RATE_HZ);
  expect(medianPitch(samples)).toBeCloseTo(140, -1);
});

describe('is undefined for', () => {
  test('silence, noise and empty audio', () => {
    const random = seededRandom(1);
    const noise = Float32Array.from({ length: LISTEN_RATE_HZ }, () => random() - 0.5);
    for (const samples of [
      new Float32Array(LISTEN_RATE_HZ),
      noise,
      new Float32Array(0),
      new Float32Array(1),
    ]) {
      expect(medianPitch(samples)).toBeUndefined();
    }
  });
});
