import { describe, expect, test } from 'vitest';
import { loudnessDb } from '../../../test/media/audio-checks.ts';
import { sine } from '../../../tools/harness/media/wav-files.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import { seededRandom } from '../../kit/math/seeded-random.ts';
import { ChannelMixer } from './channel-mixer.ts';

const RATE_HZ = 16_000;
const tone = sine(1, RATE_HZ, 440, 0.5);

/** Noise with the level of {@link tone}. */
function noise(seed: number): Float32Samples {
  const random = seededRandom(seed);
  return tone.map(() => (random() - 0.5) * 1.22);
}

const scaled = (samples: Float32Samples, factor: number) => samples.map((value) => value * factor);

function mixed(channels: readonly Float32Samples[], runSamples = 1152): Float32Array {
  const mixer = new ChannelMixer();
  const length = channels[0]?.length ?? 0;
  const out = new Float32Array(length);
  for (let at = 0; at < length; at += runSamples) {
    out.set(
      mixer.mix(
        channels.map((channel) => channel.slice(at, at + runSamples)),
        RATE_HZ,
      ),
      at,
    );
  }
  return out;
}

const close = (a: Float32Array, b: Float32Array) =>
  a.every((value, i) => Math.abs(value - (b[i] ?? 0)) < 1e-6);

describe('channels that cancel each other', () => {
  test.each([160, 1152, 100_000])(
    'runs of %d samples: an inverted copy leaves the first channel',
    (runSamples) => {
      expect(close(mixed([tone, scaled(tone, -1)], runSamples), tone)).toBe(true);
    },
  );

  test.each([0.5, 0.7, 0.9])(
    'the louder channel is used if the inverted one has %d of its level',
    (level) => {
      const speech = noise(1);
      expect(close(mixed([scaled(speech, -level), speech]), speech)).toBe(true);
    },
  );

  test('noise of both channels does not hide the cancellation', () => {
    const [first, second] = [noise(2), noise(3)];
    const left = tone.map((value, i) => value + 0.1 * (first[i] ?? 0));
    const right = tone.map((value, i) => -value + 0.1 * (second[i] ?? 0));
    expect(loudnessDb(mixed([left, right]))).toBeGreaterThan(-10);
  });

  test('four channels, two of them inverted', () => {
    const speech = noise(4);
    const out = mixed([speech, scaled(speech, -1), scaled(speech, 0.9), scaled(speech, -0.9)]);
    expect(close(out, speech)).toBe(true);
  });

  test('silence before and inside changes nothing', () => {
    const silence = new Float32Array(RATE_HZ / 2);
    const speech = Float32Array.from([...silence, ...tone, ...silence, ...tone]);
    expect(close(mixed([speech, scaled(speech, -1)]), speech)).toBe(true);
  });

  test('a change fades without a click', () => {
    const right = Float32Array.from([...tone, ...scaled(tone, -1), ...tone]);
    const left = Float32Array.from([...tone, ...tone, ...tone]);
    const out = mixed([left, right]);
    // A tone of 440 Hz at half of full scale changes by at most 0.087 per sample.
    expect(out.every((value, i) => Math.abs(value - (out[i - 1] ?? value)) < 0.1)).toBe(true);
    for (const second of [0, 1, 2]) {
      const middle = out.subarray((second + 0.5) * RATE_HZ, (second + 1) * RATE_HZ);
      expect(loudnessDb(middle)).toBeCloseTo(-9, 0);
    }
  });
});

describe('all other channels are averaged', () => {
  const mean = (channels: readonly Float32Samples[]) =>
    tone.map((_, i) => channels.reduce((sum, channel) => sum + (channel[i] ?? 0), 0) / channels.length);

  test.each([
    ['equal', [tone, tone]],
    ['independent', [noise(5), noise(6)]],
    ['one silent', [tone, new Float32Array(tone.length)]],
    ['only one of six loud', [tone, ...Array.from({ length: 5 }, () => new Float32Array(tone.length))]],
    ['a weak inverted copy', [tone, scaled(tone, -0.3)]],
  ])('%s', (_, channels) => {
    expect(close(mixed(channels), mean(channels))).toBe(true);
  });
});

test('one channel is unchanged', () => {
  expect(close(mixed([tone]), tone)).toBe(true);
});

test('the number of channels may change', () => {
  const mixer = new ChannelMixer();
  mixer.mix([tone, scaled(tone, -1)], RATE_HZ);
  expect(close(mixer.mix([tone], RATE_HZ), tone)).toBe(true);
  expect(close(mixer.mix([tone, tone, tone], RATE_HZ), tone)).toBe(true);
});

test('NaN becomes silence and other values are limited', () => {
  const odd = Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, -1e30, 1.5);
  expect([...new ChannelMixer().mix([odd], RATE_HZ)]).toEqual([0, 8, -8, 1.5]);
});
