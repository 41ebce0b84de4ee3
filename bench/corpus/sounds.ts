/** Sounds without speech: 200 clips of silence, noise, hum, tones and music-like patterns. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { amplitude, type Colour, noise, scaled, seededRandom } from './noise.ts';

export interface Sound {
  readonly name: string;
  readonly samples: Float32Samples;
}

const MIN_S = 1;
const MAX_S = 20;
const COLOURS: readonly Colour[] = ['white', 'pink', 'brown', 'blue'];
const NOISE_LEVELS_DB = [-70, -60, -50, -40, -30];
const CHORDS = [
  [0, 4, 7],
  [0, 3, 7],
  [0, 4, 7, 11],
  [0, 3, 6, 9],
  [0, 5, 7],
];
const SCALE = [0, 2, 4, 7, 9, 12, 14, 16];

/** Number of clips per kind, 200 in total. */
const KINDS: Readonly<Record<string, { count: number; make: (i: number) => Float32Samples }>> = {
  silence: { count: 20, make: (i) => new Float32Array(lengthOf(i, 20)) },
  noise: {
    count: 60,
    make: (i) => {
      const colour = COLOURS[i % COLOURS.length] ?? 'white';
      const levelDb = NOISE_LEVELS_DB[Math.floor(i / COLOURS.length) % NOISE_LEVELS_DB.length] ?? 0;
      return scaled(noise(colour, lengthOf(i, 60), 1000 + i), amplitude(levelDb));
    },
  },
  hum: {
    count: 20,
    make: (i) => {
      const hz = i % 2 === 0 ? 50 : 60;
      const level = amplitude(-50 + 2 * (i % 10));
      return wave(lengthOf(i, 20), (t) => level * buzz(hz, t, 8));
    },
  },
  tone: {
    count: 20,
    make: (i) => {
      const length = lengthOf(i, 20);
      const hz = 110 * 2 ** (i / 4);
      const level = amplitude(-30 + (i % 4) * 5);
      if (i % 4 === 0) return wave(length, (t) => level * sine(hz, t));
      // A busy tone: 0.5 s on, 0.5 s off.
      if (i % 4 === 1) return wave(length, (t) => (t % 1 < 0.5 ? level * sine(425, t) : 0));
      // Two tones, as of telephone keys.
      if (i % 4 === 2)
        return wave(length, (t) => (t % 0.4 < 0.2 ? level * (sine(770, t) + sine(1336, t)) : 0));
      // A rising siren.
      return wave(length, (t) => level * Math.sin(2 * Math.PI * (300 * t + 100 * t * (t % 2))));
    },
  },
  chord: {
    count: 30,
    make: (i) => {
      const chord = CHORDS[i % CHORDS.length] ?? [];
      const root = 110 * 2 ** ((i % 12) / 12);
      const level = amplitude(-28 + (i % 3) * 6);
      // A new chord every 2 s with attack and decay.
      return wave(lengthOf(i, 30), (t) => {
        const swell = Math.min(1, (t % 2) / 0.1) * Math.exp(-(t % 2));
        const step = SCALE[Math.floor(t / 2) % SCALE.length] ?? 0;
        return level * swell * chord.reduce((sum, note) => sum + buzz(pitch(root, note + step), t, 3), 0);
      });
    },
  },
  arpeggio: {
    count: 30,
    make: (i) => {
      const random = seededRandom(5000 + i);
      const noteS = 0.15 + 0.05 * (i % 5);
      const notes = Array.from({ length: 200 }, () => SCALE[Math.floor(random() * SCALE.length)] ?? 0);
      const level = amplitude(-22 + (i % 3) * 5);
      return wave(lengthOf(i, 30), (t) => {
        const hz = pitch(196, notes[Math.floor(t / noteS) % notes.length] ?? 0);
        return level * Math.exp((-4 * (t % noteS)) / noteS) * buzz(hz, t, 4);
      });
    },
  },
  drums: {
    count: 12,
    make: (i) => {
      const length = lengthOf(i, 12);
      const hiss = noise('white', length, 7000 + i);
      const beatS = 60 / (80 + 8 * i);
      return wave(length, (t, at) => {
        const phase = t % beatS;
        const kick =
          Math.exp(-phase * 18) * Math.sin(2 * Math.PI * (50 * phase + 4 * (1 - Math.exp(-phase * 30))));
        const snare = Math.exp(-phase * 25) * (Math.floor(t / beatS) % 2);
        return 0.3 * kick + 0.06 * snare * (hiss[at] ?? 0);
      });
    },
  },
  clicks: {
    count: 8,
    make: (i) => {
      const random = seededRandom(9000 + i);
      const length = lengthOf(i, 8);
      const samples = scaled(noise('pink', length, 9100 + i), amplitude(-65));
      for (let at = 0; at < length; at += Math.ceil((0.05 + random()) * LISTEN_RATE_HZ)) {
        const strength = 0.1 + 0.8 * random();
        for (let k = 0; k < 40 && at + k < length; k++)
          samples[at + k] = strength * Math.exp(-k / 8) * (k % 2 ? -1 : 1);
      }
      return samples;
    },
  },
};

/** All clips. Deterministic. */
export function* soundsWithoutSpeech(): Generator<Sound> {
  for (const [kind, { count, make }] of Object.entries(KINDS))
    for (let i = 0; i < count; i++) yield { name: `${kind}-${String(i).padStart(2, '0')}`, samples: make(i) };
}

/** Lengths of `count` clips: evenly from 1 s to 20 s, in an order that is independent of other properties. */
function lengthOf(i: number, count: number): number {
  const position = (i * 7) % count;
  return Math.round((MIN_S + ((MAX_S - MIN_S) * position) / (count - 1)) * LISTEN_RATE_HZ);
}

function wave(length: number, at: (timeS: number, index: number) => number): Float32Samples {
  return Float32Array.from({ length }, (_, i) => at(i / LISTEN_RATE_HZ, i));
}

function sine(hz: number, timeS: number): number {
  return Math.sin(2 * Math.PI * hz * timeS);
}

/** A tone with falling harmonics. */
function buzz(hz: number, timeS: number, harmonics: number): number {
  let sum = 0;
  for (let k = 1; k <= harmonics; k++) sum += sine(hz * k, timeS) / k;
  return sum;
}

function pitch(rootHz: number, semitones: number): number {
  return rootHz * 2 ** (semitones / 12);
}
