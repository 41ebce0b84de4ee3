import { expect, it } from 'vitest';
import { wireLogprobs } from './logprobs.ts';

const textOf = (...bytes: number[]) => wireLogprobs([{ bytes, logProbability: -1 }])?.[0]?.token;

it('tokens have their text, probability and bytes', () => {
  expect(wireLogprobs([{ bytes: [32, 110], logProbability: -0.25 }])).toEqual([
    { token: ' n', logprob: -0.25, bytes: [32, 110] },
  ]);
  expect(wireLogprobs([])).toEqual([]);
});

it('are absent if the engine reports none', () => {
  expect(wireLogprobs(undefined)).toBeUndefined();
});

it.each([
  ['é', [0xc3, 0xa9]],
  ['👋', [0xf0, 0x9f, 0x91, 0x8b]],
  ['\ufeffa', [0xef, 0xbb, 0xbf, 0x61]],
  ['\\xe2\\x80', [0xe2, 0x80]],
  [' é\\xf0\\x9f', [0x20, 0xc3, 0xa9, 0xf0, 0x9f]],
  ['\\x8b!', [0x8b, 0x21]],
  ['\ufffd\\xff', [0xef, 0xbf, 0xbd, 0xff]],
])('bytes outside whole characters are escaped: %s', (token, bytes) => {
  expect(textOf(...bytes)).toBe(token);
});
