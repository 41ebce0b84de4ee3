import { expect, test } from 'vitest';
import { RESULT_LINES, resultsOf } from './result-preview.ts';

const completedLine = (id: string) =>
  JSON.stringify({ custom_id: id, response: { body: { data: [1] } }, error: null });
const failed = (id: string) =>
  JSON.stringify({ custom_id: id, response: null, error: { code: 'model_not_found', message: 'No.' } });

test('lines have their response or their error', () => {
  expect(resultsOf(`${completedLine('a')}\n${failed('b')}\n`, true)).toEqual([
    { id: 'a', response: '{"data":[1]}' },
    { id: 'b', error: { code: 'model_not_found', message: 'No.' } },
  ]);
});

test('a truncated line is omitted, and the number of lines is limited', () => {
  expect(resultsOf(`${completedLine('a')}\n${failed('b').slice(0, 20)}`, false)).toHaveLength(1);
  expect(resultsOf(completedLine('a'), true)).toHaveLength(1);
  expect(resultsOf(`${failed('b')}\n`.repeat(RESULT_LINES + 1), true)).toHaveLength(RESULT_LINES);
});
