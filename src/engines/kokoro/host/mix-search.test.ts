import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import { likeness, meanDirection } from '../../speakers/host/voice-print.ts';
import { EMBEDDING_SIZE } from '../../speakers/import/graph.ts';
import { type KokoroMix, presetNames, readMix, type VoiceWeights, writeMix } from '../shared/voice-mix.ts';
import { firstMix, type HeardVoice, MixSearch, type Preset, type Target } from './mix-search.ts';

const NAMES = presetNames().slice(0, 12);
const TEXTS = 2;

/** Voices whose prints are numbers from a seed, and a model in which a mix has something of its own. */
class World {
  readonly presets: readonly Preset[];
  readonly #prints = new Map<string, Float32Array>();
  readonly #pitches = new Map<string, number>();
  /** What sounds only where voices are mixed, which no print of one voice tells. */
  readonly #blend: Float32Array;

  constructor(seed: number) {
    const random = seededRandom(seed);
    for (const name of NAMES) {
      this.#prints.set(name, unitVector(Float32Array.from({ length: EMBEDDING_SIZE }, () => random() ** 3)));
      this.#pitches.set(name, 80 + 150 * random());
    }
    this.#blend = meanDirection([...this.#prints.values()].slice(-3));
    const alone = (name: string) => ({ timbre: { [name]: 1 }, prosody: { [name]: 1 }, pitchScale: 1 });
    this.presets = NAMES.map((name) => ({ name, heard: this.hear(alone(name)) }));
  }

  /** How a mix sounds. */
  hear({ timbre, prosody, pitchScale }: KokoroMix): HeardVoice[] {
    return Array.from({ length: TEXTS }, (_, text) => {
      const print = new Float32Array(EMBEDDING_SIZE);
      const evenness = 1 - Object.values(timbre).reduce((sum, weight) => sum + weight ** 2, 0);
      const parts = Object.entries(timbre).map(([name, weight]) => [this.#prints.get(name), weight] as const);
      for (const [own, weight] of [...parts, [this.#blend, evenness] as const]) {
        for (let i = 0; i < print.length; i++) print[i] = (print[i] ?? 0) + weight * (own?.[i] ?? 0);
      }
      print[text] = (print[text] ?? 0) + 0.05;
      return { embedding: unitVector(print), pitchHz: pitchScale * this.#pitch(prosody), seconds: 3 + text };
    });
  }

  #pitch(prosody: VoiceWeights): number {
    const logs = Object.entries(prosody).map(
      ([name, weight]) => weight * Math.log(this.#pitches.get(name) ?? 1),
    );
    return Math.exp(logs.reduce((sum, log) => sum + log, 0));
  }
}

/** A speaker between two of the voices, and a little beside them. */
function speaker(world: World, seed: number): Target {
  const random = seededRandom(seed);
  const [one, other] = [world.presets[1], world.presets[Math.floor(2 + random() * 8)]];
  const print = Float32Array.from({ length: EMBEDDING_SIZE }, (_, i) => {
    const [a = 0, b = 0] = [one?.heard[0]?.embedding[i], other?.heard[0]?.embedding[i]];
    return 0.6 * a + 0.4 * b + 0.03 * random();
  });
  return { embedding: unitVector(print), pitchHz: 140 };
}

function run(world: World, target: Target, rounds: number, seed = 1) {
  const search = new MixSearch(target, world.presets, firstMix(target, world.presets), seed);
  const best: { mix: KokoroMix; like: number }[] = [];
  const tried: KokoroMix[] = [];
  for (let round = 0; round < rounds && !search.isOver; round++) {
    const mix = search.next();
    tried.push(mix);
    const heard = world.hear(mix);
    const hopeful = search.isPromising(heard.slice(0, 1));
    const kept = hopeful ? heard : heard.slice(0, 1);
    if (search.heard(mix, kept)) best.push({ mix, like: likenessOf(world, mix, target) });
  }
  return { search, best, tried };
}

function likenessOf(world: World, mix: KokoroMix, target: Target): number {
  const heard = world.hear(mix);
  return heard.reduce((sum, { embedding }) => sum + likeness(embedding, target.embedding), 0) / heard.length;
}

const sum = (weights: VoiceWeights) => Object.values(weights).reduce((total, weight) => total + weight, 0);
const seeds = fc.nat(1_000_000);

describe('the first mix', () => {
  test('is nearer to a speaker between voices than each of them, at the speaker’s pitch', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const world = new World(seed);
        const target = speaker(world, seed + 1);
        const mix = firstMix(target, world.presets);
        const alone = NAMES.map((name) =>
          likenessOf(world, { timbre: { [name]: 1 }, prosody: { [name]: 1 }, pitchScale: 1 }, target),
        );
        expect(likenessOf(world, mix, target)).toBeGreaterThan(Math.max(...alone) - 0.02);
        const pitch = world.hear(mix)[0]?.pitchHz ?? 0;
        if (mix.pitchScale > 0.75 && mix.pitchScale < 1.33) expect(pitch).toBeCloseTo(140, 0);
      }),
      { numRuns: 50 },
    );
  });

  test('of one voice alone is that voice', () => {
    const world = new World(1);
    const [only] = world.presets;
    if (!only) throw new Error('no voice');
    const mix = firstMix({ embedding: speaker(world, 1).embedding, pitchHz: undefined }, [only]);
    expect(mix).toEqual({ timbre: { [only.name]: 1 }, prosody: { [only.name]: 1 }, pitchScale: 1 });
  });
});

describe('the search', () => {
  test('gets nearer, is never behind a single voice, and stays among what the model speaks', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const world = new World(seed);
        const target = speaker(world, seed + 1);
        const { best, tried } = run(world, target, 60);
        const singles = NAMES.map((name) =>
          likenessOf(world, { timbre: { [name]: 1 }, prosody: { [name]: 1 }, pitchScale: 1 }, target),
        );
        const end = best.at(-1)?.like ?? 0;
        // What a pitch far from the speaker's costs is weighed against likeness.
        expect(end).toBeGreaterThan(Math.max(...singles) - 0.02);
        expect(end).toBeGreaterThan((best[0]?.like ?? 1) - 0.02);
        for (const mix of tried) {
          expect(readMix(writeMix(mix))).toBeDefined();
          expect(sum(mix.timbre)).toBeCloseTo(1, 6);
          expect(sum(mix.prosody)).toBeCloseTo(1, 6);
          for (const weight of Object.values(mix.timbre)) {
            expect(weight).toBeGreaterThan(-1);
            expect(weight).toBeLessThan(2);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  test('gains in the mean of many speakers', () => {
    const gains = Array.from({ length: 10 }, (_, seed) => {
      const world = new World(seed);
      const { best } = run(world, speaker(world, seed + 50), 80);
      return (best.at(-1)?.like ?? 0) - (best[0]?.like ?? 0);
    });
    expect(gains.reduce((total, gain) => total + gain, 0) / gains.length).toBeGreaterThan(0.005);
  });

  test('is the same for the same seed, and another for another', () => {
    const world = new World(4);
    const target = speaker(world, 5);
    expect(run(world, target, 30).tried).toEqual(run(world, target, 30).tried);
    expect(run(world, target, 30, 2).tried).not.toEqual(run(world, target, 30).tried);
  });

  test('is over when nothing is gained any more', () => {
    const world = new World(6);
    const { search, tried } = run(world, speaker(world, 7), 5_000);
    expect(search.isOver).toBe(true);
    expect(tried.length).toBeLessThan(1_000);
  });

  test('a voice of another pitch or pace must be more alike', () => {
    const world = new World(8);
    const target = speaker(world, 9);
    const search = new MixSearch(target, world.presets, firstMix(target, world.presets), 1);
    const mix = search.next();
    const heard = world.hear(mix);
    expect(search.heard(mix, heard)).toBe(true);
    const worse = (change: Partial<HeardVoice>) => heard.map((each) => ({ ...each, ...change }));
    const nearer = {
      embedding: unitVector(target.embedding.map((value, i) => value + (heard[0]?.embedding[i] ?? 0))),
    };
    expect(search.isPromising(worse(nearer))).toBe(true);
    expect(search.isPromising(worse({ ...nearer, pitchHz: 280 }))).toBe(false);
    expect(search.isPromising(worse({ ...nearer, seconds: 12 }))).toBe(false);
    expect(search.heard(mix, worse({ ...nearer, pitchHz: 280 }))).toBe(false);
    // Given up after the first text.
    expect(search.heard(mix, worse(nearer).slice(0, 1))).toBe(false);
    expect(search.heard(mix, worse(nearer))).toBe(true);
  });
});
