import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repetitions } from '../../../../test/harness/tier.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import { cosineSimilarity } from '../../speakers/host/voice-print.ts';
import { EMBEDDING_SIZE } from '../../speakers/import/graph.ts';
import { englishPresetNames, readMix, type VoiceWeights, writeMix } from '../shared/voice-mix.ts';
import table from './preset-voices.json' with { type: 'json' };
import { measuredSources, PRESET_VOICES } from './preset-voices.ts';
import { blendFor, type PresetVoice } from './voice-blend.ts';
import { kokoroFitter, NO_FITTER } from './voice-fitter.ts';

const seeds = fc.nat(1_000_000);
const numRuns = repetitions(17, 50);

/** Preset voices with pseudo-random embeddings. */
function presetsOf(seed: number): PresetVoice[] {
  const random = seededRandom(seed);
  return englishPresetNames()
    .slice(0, 12)
    .map((name) => ({
      name,
      embedding: unitVector(Float32Array.from({ length: EMBEDDING_SIZE }, () => random() ** 3)),
      pitchHz: 80 + 150 * random(),
    }));
}

/** The embedding of a mix, if embeddings mix linearly. */
function mixed(weights: VoiceWeights, presets: readonly PresetVoice[]): Float32Array {
  return unitVector(
    Float32Array.from({ length: EMBEDDING_SIZE }, (_, i) =>
      presets.reduce((sum, { name, embedding }) => sum + (weights[name] ?? 0) * (embedding[i] ?? 0), 0),
    ),
  );
}

/** A speaker between two of the presets, with some noise. */
function speakerOf(presets: readonly PresetVoice[], seed: number) {
  const random = seededRandom(seed);
  const [one, other] = [presets[1], presets[Math.floor(2 + random() * 8)]];
  const embedding = Float32Array.from(
    { length: EMBEDDING_SIZE },
    (_, i) => 0.6 * (one?.embedding[i] ?? 0) + 0.4 * (other?.embedding[i] ?? 0) + 0.03 * random(),
  );
  return { embedding: unitVector(embedding), pitchHz: 140 };
}

const sumOf = (weights: VoiceWeights) => Object.values(weights).reduce((total, weight) => total + weight, 0);

describe('the blend for a speaker', () => {
  test('is more similar to a speaker between presets than each preset', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const presets = presetsOf(seed);
        const speaker = speakerOf(presets, seed + 1);
        const { timbre } = blendFor(speaker, presets);
        const alone = presets.map(({ embedding }) => cosineSimilarity(embedding, speaker.embedding));
        expect(cosineSimilarity(mixed(timbre, presets), speaker.embedding)).toBeGreaterThan(
          Math.max(...alone),
        );
      }),
      { numRuns },
    );
  });

  test('has weights with a sum of 1 within the bounds, and is deterministic', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const presets = presetsOf(seed);
        const speaker = speakerOf(presets, seed + 1);
        const mix = blendFor(speaker, presets);
        expect(blendFor(speaker, presets)).toEqual(mix);
        expect(sumOf(mix.timbre)).toBeCloseTo(1, 6);
        expect(sumOf(mix.prosody)).toBeCloseTo(1, 6);
        expect(Math.min(...Object.values(mix.prosody))).toBeGreaterThan(0);
        expect(mix.pitchScale).toBeGreaterThanOrEqual(0.75);
        expect(mix.pitchScale).toBeLessThanOrEqual(1.33);
        expect(readMix(writeMix(mix))).toBeDefined();
      }),
      { numRuns },
    );
  });

  test('has the pitch of the speaker', () => {
    const presets = presetsOf(1).map((preset) => ({ ...preset, pitchHz: 200 }));
    const pitchScale = (pitchHz: number | undefined) =>
      blendFor({ ...speakerOf(presets, 2), pitchHz }, presets).pitchScale;
    expect(pitchScale(180)).toBeCloseTo(0.9, 6);
    expect(pitchScale(undefined)).toBe(1);
    // An octave is more likely an error of the measurement.
    expect([pitchScale(100), pitchScale(400)]).toEqual([0.75, 1.33]);
  });

  test('takes the prosody from presets with a similar pitch', () => {
    const [low, high] = presetsOf(3).slice(0, 2) as [PresetVoice, PresetVoice];
    const presets = [
      { ...low, pitchHz: 100 },
      { ...high, pitchHz: 200 },
    ];
    const embedding = mixed({ [low.name]: 0.5, [high.name]: 0.5 }, presets);
    const { timbre, prosody } = blendFor({ embedding, pitchHz: 105 }, presets);
    expect(timbre[high.name]).toBeCloseTo(0.5, 2);
    expect(prosody[low.name]).toBeGreaterThan(0.9);
  });

  test('is the preset itself if there is only one', () => {
    const [only] = presetsOf(1) as [PresetVoice];
    const mix = blendFor({ embedding: only.embedding, pitchHz: undefined }, [only]);
    expect(mix).toEqual({ timbre: { [only.name]: 1 }, prosody: { [only.name]: 1 }, pitchScale: 1 });
  });
});

describe('the table of preset voices', () => {
  test('was measured with the models of the catalog', () => {
    expect(table.sources, 'Run bun tools/measure-presets.ts').toBe(measuredSources());
  });

  test('has each English voice with a unit vector and a pitch of speech', () => {
    expect(PRESET_VOICES.map(({ name }) => name)).toEqual(englishPresetNames());
    for (const { embedding, pitchHz } of PRESET_VOICES) {
      expect(embedding).toHaveLength(EMBEDDING_SIZE);
      expect(cosineSimilarity(embedding, embedding)).toBeCloseTo(1, 4);
      expect(pitchHz).toBeGreaterThan(60);
      expect(pitchHz).toBeLessThan(300);
    }
  });

  test('gives each of its voices a blend that consists mainly of it', () => {
    for (const { name, embedding, pitchHz } of PRESET_VOICES) {
      const { timbre } = blendFor({ embedding, pitchHz }, PRESET_VOICES);
      const [heaviest] = Object.entries(timbre).toSorted(([, one], [, other]) => other - one);
      expect(heaviest?.[0]).toBe(name);
    }
  });
});

describe('the fitter', () => {
  const [speaker] = PRESET_VOICES as [PresetVoice, ...PresetVoice[]];

  test('creates adaptations that are current', () => {
    const adaptation = kokoroFitter.createAdaptation({ ...speaker, partials: [] });
    expect(kokoroFitter.isCurrent(adaptation)).toBe(true);
    expect(kokoroFitter.isCurrent('{}')).toBe(false);
    expect(readMix(adaptation)?.timbre[speaker.name]).toBeGreaterThan(0.5);
  });

  test('is not needed without a model that supports adaptations', () => {
    expect(NO_FITTER.isNeeded).toBe(false);
    expect(NO_FITTER.isCurrent('')).toBe(false);
    expect(() => NO_FITTER.createAdaptation({ ...speaker, partials: [] })).toThrow('no configured model');
  });
});
