/** Noise of known colour and level, identical on every machine. */

import type { Float32Samples } from '../../src/contract/engines/audio.ts';

/** Spectrum: white is flat, pink falls by 3 dB per octave, brown by 6 dB, blue rises by 6 dB. */
export type Colour = 'white' | 'pink' | 'brown' | 'blue';

/**
 * Uniform numbers in 0–1 from a seed (mulberry32 by Tommy Ettinger, public domain). Not the
 * generator of src/kit: other numbers would change the corpus, and earlier measurements could not be compared.
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Coloured noise with a power of 1. */
export function noise(colour: Colour, length: number, seed: number): Float32Samples {
  const random = seededRandom(seed);
  const filter = FILTERS[colour]();
  const samples = Float32Array.from({ length }, () => filter(2 * random() - 1));
  return scaled(samples, 1 / rms(samples));
}

const FILTERS: Readonly<Record<Colour, () => (white: number) => number>> = {
  white: () => (white) => white,
  pink: () => {
    // Three poles by Paul Kellet, within 0.5 dB of -3 dB per octave above 10 Hz at 44.1 kHz.
    let [a, b, c] = [0, 0, 0];
    return (white) => {
      a = 0.99765 * a + white * 0.099046;
      b = 0.963 * b + white * 0.2965164;
      c = 0.57 * c + white * 1.0526913;
      return a + b + c + white * 0.1848;
    };
  },
  brown: () => {
    let level = 0;
    return (white) => {
      level = 0.998 * level + white;
      return level;
    };
  },
  blue: () => {
    let before = 0;
    return (white) => {
      const difference = white - before;
      before = white;
      return difference;
    };
  },
};

/** Root mean square. */
export function rms(samples: Float32Samples): number {
  return Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / Math.max(1, samples.length));
}

export function scaled(samples: Float32Samples, factor: number): Float32Samples {
  return samples.map((x) => x * factor);
}

/** Amplitude of a level in dB of full scale. */
export function amplitude(levelDb: number): number {
  return 10 ** (levelDb / 20);
}

/** Adds noise with a signal-to-noise ratio of `ratioDb` over the whole clip. */
export function withNoise(speech: Float32Samples, added: Float32Samples, ratioDb: number): Float32Samples {
  const factor = (rms(speech) / rms(added)) * amplitude(-ratioDb);
  return speech.map((x, i) => x + factor * (added[i] ?? 0));
}
