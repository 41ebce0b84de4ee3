import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../kit/math/seeded-random.ts';
import { isEchoOf, repeatsSpeech } from './echo.ts';

/** A sound like speech: pulses of varying pitch and level through resonances, at 16 kHz. */
function speechLike(seed: number, length: number): Float32Array<ArrayBuffer> {
  const random = seededRandom(seed);
  const samples = new Float32Array(length);
  let [phase, pitchHz, level, first, second] = [0, 120, 1, 0, 0];
  for (let i = 0; i < length; i++) {
    if (i % 1600 === 0) {
      pitchHz = 90 + 120 * random();
      level = random() < 0.2 ? 0 : random();
    }
    phase += pitchHz / 16_000;
    const pulse = phase >= 1 ? level : 0;
    phase %= 1;
    const sound = pulse + 0.02 * level * (random() - 0.5) + 1.7 * first - 0.8 * second;
    [second, first] = [first, sound];
    samples[i] = sound;
  }
  return samples;
}

const mixed = (one: Float32Array, other: Float32Array, gain: number) =>
  one.map((sample, i) => sample + gain * (other[i] ?? 0)) as Float32Array<ArrayBuffer>;

describe('the correlation', () => {
  const played = speechLike(1, 40_000);
  const echo = played.slice(20_000, 32_800).map((sample) => sample / 4);

  test('finds a delayed, quieter copy in noise', () => {
    const noise = speechLike(9, echo.length).map((sample) => 0.02 * sample);
    expect(isEchoOf(mixed(echo, noise, 1), played)).toBe(true);
  });

  test('does not match another voice', () => {
    for (let seed = 2; seed < 12; seed++) expect(isEchoOf(speechLike(seed, 12_800), played)).toBe(false);
  });

  test('does not match a louder voice over the echo', () => {
    expect(isEchoOf(mixed(speechLike(5, echo.length), echo, 1), played)).toBe(false);
  });

  test('of silence or of too little audio is none', () => {
    expect(isEchoOf(new Float32Array(12_800), played)).toBe(false);
    expect(isEchoOf(echo, played.slice(0, 1000))).toBe(false);
    expect(isEchoOf(new Float32Array(0), played)).toBe(false);
  });
});

test.each([
  ['kitchen closes at ten', 'Yes. The kitchen closes at ten. Anything', true],
  ['Kitchen closest at ten', 'The kitchen closes at ten.', true],
  ['wait, at ten?', 'The kitchen closes at ten.', false],
  ['', 'The kitchen closes at ten.', false],
  ['hello', '', false],
])('%j repeats %j: %s', (transcript, spoken, expected) => {
  expect(repeatsSpeech(transcript, spoken)).toBe(expected);
});
