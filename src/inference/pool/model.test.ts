import { expect, test } from 'vitest';
import { resultsOf } from './model.ts';

test('the results of all steps include the one that the last step returns', async () => {
  async function* steps() {
    yield 1;
    yield null;
    yield 2;
    return 3;
  }
  expect(await Array.fromAsync(resultsOf(steps()))).toEqual([1, 2, 3]);
});

test('a last step without result adds none', async () => {
  async function* steps() {
    yield 1;
  }
  expect(await Array.fromAsync(resultsOf(steps()))).toEqual([1]);
});
