import { expect, test } from 'vitest';
import type { GraphOutput } from '../../../inference/runtime/runtime.ts';
import type { Utterance } from './acoustic-model.ts';
import { timedTokens } from './token-sounds.ts';

const output = (values: readonly number[]): GraphOutput => ({
  data: Float32Array.from(values),
  dims: [1, values.length],
});

/** Tokens: pad, `a`, `a`, space, `b`, pad, of 4 frames each at speed 1 without the lead. */
const SOURCES = [0, 0, undefined, 2];
const DURATIONS = [5.5, 4, 4, 4, 4, 2.5];

/** Start and end of each word, in frames. @param silent steps of 12.5 ms without sound. */
function wordsWith(silent: readonly number[]) {
  const energy = Array.from({ length: 48 }, (_, step) => (silent.includes(step) ? -1 : 1));
  const utterance = { from: 0, to: 24, durations: output(DURATIONS), energy: output(energy) } as Utterance;
  const { sources, durations } = timedTokens(utterance, SOURCES, 1);
  const lengths = Array.from(durations);
  const starts = lengths.map((_, i) => lengths.slice(0, i).reduce((sum, length) => sum + length, 0));
  return sources.flatMap((source, i) =>
    source === undefined ? [] : [[source, starts[i], (starts[i] ?? 0) + (lengths[i] ?? 0)]],
  );
}

const silence = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test('a pause between words is where the energy is low', () => {
  expect(wordsWith([...silence(0, 8), ...silence(26, 30), ...silence(40, 48)])).toEqual([
    [0, 4, 8],
    [0, 8, 13],
    [2, 15, 20],
  ]);
});

test('a word starts at the end of the one before it if there is no pause', () => {
  expect(wordsWith([...silence(0, 8), ...silence(40, 48)])).toEqual([
    [0, 4, 8],
    [0, 8, 12],
    [2, 12, 20],
  ]);
});
