import { describe, expect, it } from 'vitest';
import type { SpeakerEmbedding } from '../../../src/contract/engines/voice.ts';
import { seededRandom } from '../../../src/kit/math/seeded-random.ts';
import { unitVector } from '../../../src/kit/math/unit-vector.ts';
import { embedding } from '../../../test/doubles/fake-speakers.ts';
import { groupSpeakers, requireOneSpeaker } from './one-speaker.ts';

const SIZE = 256;

/** Windows of speakers in a space with the real dimension, each with a random deviation. */
function windowsOf(speakers: readonly number[], off = 0.4): SpeakerEmbedding[] {
  const random = seededRandom(7);
  const direction = () => unitVector(Float32Array.from({ length: SIZE }, () => random() - 0.5));
  const voices = Array.from({ length: 3 }, direction);
  return speakers.map((speaker) => {
    const noise = direction();
    return unitVector((voices[speaker] ?? noise).map((value, at) => value + off * (noise[at] ?? 0)));
  });
}

describe('windows of a clip', () => {
  it.each([
    ['one window', [0]],
    ['two of one speaker', [0, 0]],
    ['many of one speaker', new Array(20).fill(0)],
    ['a cough', [0, 0, 0, 0, 10, 0, 0, 0, 0, 0]],
    ['a laugh of two windows', [...new Array(12).fill(0), 10, 10]],
    ['a voice with varying pitch', [0, 1, 2, 3, 4, 3, 2, 1, 0, 0]],
  ])('pass: %s', (_, speakers) => {
    expect(() => requireOneSpeaker(speakers.map(embedding))).not.toThrow();
  });

  it.each([
    ['halves', [0, 0, 0, 0, 10, 10, 10, 10]],
    ['in turns', [0, 10, 0, 10, 0, 10]],
    ['a third', [10, 10, 10, 0, 0, 0, 0, 0, 0]],
    ['two windows each', [0, 0, 9, 9]],
  ])('are rejected: %s of two speakers', (_, speakers) => {
    expect(() => requireOneSpeaker(speakers.map(embedding))).toThrow(/single speaker/);
  });

  it('are grouped in the dimension of the model', () => {
    const one = groupSpeakers(windowsOf(new Array(16).fill(0)));
    expect(one.similarity).toBeGreaterThan(0.8);
    const two = groupSpeakers(windowsOf([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]));
    expect(two.smaller).toBe(5);
    expect(two.similarity).toBeLessThan(0.2);
    expect(() => requireOneSpeaker(windowsOf([0, 0, 0, 1, 1, 1, 2, 2, 2]))).toThrow();
  });

  it('that are equal are one group', () => {
    expect(groupSpeakers(new Array(5).fill(embedding(3)))).toEqual({ smaller: 0, similarity: 1 });
  });
});
