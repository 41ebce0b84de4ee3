import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repetitions } from '../../../../test/harness/tier.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import { cosineSimilarity, meanDirection } from '../../speakers/host/voice-print.ts';
import { EMBEDDING_SIZE } from '../../speakers/import/graph.ts';
import { type KokoroMix, presetNames, readMix, type VoiceWeights, writeMix } from '../shared/voice-mix.ts';
import {
  initialMix,
  type MeasuredPreset,
  MixSearch,
  type TargetSpeaker,
  type VoiceMeasurement,
} from './mix-search.ts';

const NAMES = presetNames().slice(0, 12);
const TEXTS = 2;

/** Preset voices with pseudo-random embeddings, and a model in which a mix also has a component of its own. */
class World {
  readonly presets: readonly MeasuredPreset[];
  readonly #prints = new Map<string, Float32Array>();
  readonly #pitches = new Map<string, number>();
  /** Component that only mixes have, so that the embeddings of the presets do not predict it. */
  readonly #blend: Float32Array;

  constructor(seed: number) {
    const random = seededRandom(seed);
    for (const name of NAMES) {
      this.#prints.set(name, unitVector(Float32Array.from({ length: EMBEDDING_SIZE }, () => random() ** 3)));
      this.#pitches.set(name, 80 + 150 * random());
    }
    this.#blend = meanDirection([...this.#prints.values()].slice(-3));
    const alone = (name: string) => ({ timbre: { [name]: 1 }, prosody: { [name]: 1 }, pitchScale: 1 });
    this.presets = NAMES.map((name) => ({ name, measurements: this.measure(alone(name)) }));
  }

  measure({ timbre, prosody, pitchScale }: KokoroMix): VoiceMeasurement[] {
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

/** A speaker between two of the presets, with some noise. */
function speaker(world: World, seed: number): TargetSpeaker {
  const random = seededRandom(seed);
  const [one, other] = [world.presets[1], world.presets[Math.floor(2 + random() * 8)]];
  const print = Float32Array.from({ length: EMBEDDING_SIZE }, (_, i) => {
    const [a = 0, b = 0] = [one?.measurements[0]?.embedding[i], other?.measurements[0]?.embedding[i]];
    return 0.6 * a + 0.4 * b + 0.03 * random();
  });
  return { embedding: unitVector(print), pitchHz: 140 };
}

function runSearch(world: World, target: TargetSpeaker, rounds: number, seed = 1) {
  const search = new MixSearch(target, world.presets, initialMix(target, world.presets), seed);
  const best: { mix: KokoroMix; like: number }[] = [];
  const tried: KokoroMix[] = [];
  for (let round = 0; round < rounds && !search.isFinished; round++) {
    const mix = search.nextCandidate();
    tried.push(mix);
    const all = world.measure(mix);
    const measurements = search.isPromising(all.slice(0, 1)) ? all : all.slice(0, 1);
    if (search.recordCandidate(mix, measurements)) best.push({ mix, like: likenessOf(world, mix, target) });
  }
  return { search, best, tried };
}

function likenessOf(world: World, mix: KokoroMix, target: TargetSpeaker): number {
  const similarities = world
    .measure(mix)
    .map(({ embedding }) => cosineSimilarity(embedding, target.embedding));
  return similarities.reduce((sum, each) => sum + each, 0) / similarities.length;
}

const sum = (weights: VoiceWeights) => Object.values(weights).reduce((total, weight) => total + weight, 0);
const seeds = fc.nat(1_000_000);

describe('initialMix', () => {
  test('is more similar to a speaker between presets than each preset, and has the pitch of the speaker', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const world = new World(seed);
        const target = speaker(world, seed + 1);
        const mix = initialMix(target, world.presets);
        const alone = NAMES.map((name) =>
          likenessOf(world, { timbre: { [name]: 1 }, prosody: { [name]: 1 }, pitchScale: 1 }, target),
        );
        expect(likenessOf(world, mix, target)).toBeGreaterThan(Math.max(...alone) - 0.02);
        const pitch = world.measure(mix)[0]?.pitchHz ?? 0;
        if (mix.pitchScale > 0.75 && mix.pitchScale < 1.33) expect(pitch).toBeCloseTo(140, 0);
      }),
      { numRuns: repetitions(17, 50) },
    );
  });

  test('is the preset itself if there is only one', () => {
    const world = new World(1);
    const [only] = world.presets;
    if (!only) throw new Error('no voice');
    const mix = initialMix({ embedding: speaker(world, 1).embedding, pitchHz: undefined }, [only]);
    expect(mix).toEqual({ timbre: { [only.name]: 1 }, prosody: { [only.name]: 1 }, pitchScale: 1 });
  });
});

describe('MixSearch', () => {
  test('improves, is at least as good as the best preset, and proposes only valid mixes', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const world = new World(seed);
        const target = speaker(world, seed + 1);
        const { best, tried } = runSearch(world, target, 60);
        const singles = NAMES.map((name) =>
          likenessOf(world, { timbre: { [name]: 1 }, prosody: { [name]: 1 }, pitchScale: 1 }, target),
        );
        const end = best.at(-1)?.like ?? 0;
        // The score also has a penalty for a pitch unlike the speaker's, so the similarity may be slightly lower.
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
      { numRuns: repetitions(10, 30) },
    );
  });

  test('improves the mean similarity over several speakers', () => {
    const gains = Array.from({ length: 10 }, (_, seed) => {
      const world = new World(seed);
      const { best } = runSearch(world, speaker(world, seed + 50), 80);
      return (best.at(-1)?.like ?? 0) - (best[0]?.like ?? 0);
    });
    expect(gains.reduce((total, gain) => total + gain, 0) / gains.length).toBeGreaterThan(0.005);
  });

  test('proposes the same mixes for the same seed, and different ones for another seed', () => {
    const world = new World(4);
    const target = speaker(world, 5);
    expect(runSearch(world, target, 30).tried).toEqual(runSearch(world, target, 30).tried);
    expect(runSearch(world, target, 30, 2).tried).not.toEqual(runSearch(world, target, 30).tried);
  });

  test('finishes when candidates no longer improve the score', () => {
    const world = new World(6);
    const { search, tried } = runSearch(world, speaker(world, 7), 5_000);
    expect(search.isFinished).toBe(true);
    expect(tried.length).toBeLessThan(1_000);
  });

  test('penalizes a different pitch or pace', () => {
    const world = new World(8);
    const target = speaker(world, 9);
    const search = new MixSearch(target, world.presets, initialMix(target, world.presets), 1);
    const mix = search.nextCandidate();
    const measurements = world.measure(mix);
    expect(search.recordCandidate(mix, measurements)).toBe(true);
    const changed = (change: Partial<VoiceMeasurement>) =>
      measurements.map((each) => ({ ...each, ...change }));
    const nearer = {
      embedding: unitVector(target.embedding.map((value, i) => value + (measurements[0]?.embedding[i] ?? 0))),
    };
    expect(search.isPromising(changed(nearer))).toBe(true);
    expect(search.isPromising(changed({ ...nearer, pitchHz: 280 }))).toBe(false);
    expect(search.isPromising(changed({ ...nearer, seconds: 12 }))).toBe(false);
    expect(search.recordCandidate(mix, changed({ ...nearer, pitchHz: 280 }))).toBe(false);
    // Abandoned after the first text.
    expect(search.recordCandidate(mix, changed(nearer).slice(0, 1))).toBe(false);
    expect(search.recordCandidate(mix, changed(nearer))).toBe(true);
  });
});
