import { expect, test } from 'vitest';
import { SentenceEnd } from './sentence-end.ts';

const [MARK, WORD, OTHER, END] = [0, 1, 2, 3];

/** Steps as chosen tokens with the probabilities of all tokens. */
function probabilityAfter(...steps: readonly (readonly [token: number, probabilities: readonly number[]])[]) {
  const end = new SentenceEnd([MARK]);
  for (const [token, probabilities] of steps) {
    // Logits have any offset.
    const logits = Float32Array.from(probabilities, (each) => Math.log(each) + 7);
    end.add(token, Math.log(probabilities[token] ?? 0), logits);
  }
  return end.probability;
}

const SURE = [WORD, [0.001, 0.997, 0.001, 0.001]] as const;
const DOUBTFUL = [WORD, [0.1, 0.4, 0.4, 0.1]] as const;
const FINAL = [MARK, [0.9, 0.04, 0.03, 0.03]] as const;
const ENDED = [END, [0.001, 0.001, 0.001, 0.997]] as const;

test('sure words with a sure mark are a sentence', () => {
  expect(probabilityAfter(SURE, SURE, FINAL, ENDED)).toBeCloseTo(0.9, 1);
});

test('a mark that could as well be another word is doubtful', () => {
  const mark = [MARK, [0.4, 0.3, 0.2, 0.1]] as const;
  expect(probabilityAfter(SURE, SURE, mark, ENDED)).toBeCloseTo(0.4, 2);
});

test('an end without a mark is not the end of a sentence', () => {
  expect(probabilityAfter(SURE, SURE, [END, [0.02, 0.03, 0.05, 0.9]])).toBeCloseTo(0.02, 2);
});

test('doubtful words before the mark count', () => {
  expect(probabilityAfter(SURE, DOUBTFUL, DOUBTFUL, DOUBTFUL, FINAL, ENDED)).toBeCloseTo(0.36, 2);
  expect(probabilityAfter(DOUBTFUL, SURE, SURE, SURE, FINAL, ENDED)).toBeCloseTo(0.9, 2);
});

test('words after a mark start another sentence', () => {
  expect(probabilityAfter(SURE, FINAL, SURE, SURE, [OTHER, [0.01, 0.02, 0.96, 0.01]])).toBeCloseTo(0.01, 2);
});

test('without words, the probability is 0', () => {
  expect(new SentenceEnd([MARK]).probability).toBe(0);
});
