import { describe, expect, test } from 'vitest';
import { readTools, runnableTools, sessionTools, TOOLS_PLACEHOLDER } from './tool-list.ts';

const custom = [{ type: 'function', name: 'roll_dice' }] as const;
const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

describe('readTools', () => {
  test('accepts an empty text and the example of the field', () => {
    expect(readTools(' ')).toEqual({ tools: [] });
    expect(readTools(TOOLS_PLACEHOLDER)).toMatchObject({ tools: [{ name: 'find_booking' }] });
  });

  test.each([
    ['[', /^Invalid JSON/],
    ['{}', /^Enter a list/],
    ['["x"]', /^Function 1: "type"/],
    ['[{"type":"mcp"}]', /^Function 1: "type"/],
    ['[{"type":"function","name":"a"},{"type":"function","name":"b c"}]', /^Function 2: "name"/],
    ['[{"type":"function","name":"a","parameters":[]}]', /^Function 1: "parameters"/],
  ])('rejects %s', (text, message) => {
    expect(readTools(text)).toEqual({ error: expect.stringMatching(message) });
  });
});

test('the functions of a session are the examples that are on, and those of the user', () => {
  expect(namesOf(sessionTools([], []))).toEqual([]);
  expect(namesOf(sessionTools(['roll_dice', 'get_current_time'], []))).toEqual([
    'get_current_time',
    'roll_dice',
  ]);
  expect(sessionTools(['roll_dice', 'get_current_time'], custom).at(-1)).toBe(custom[0]);
});

test('a function of the user replaces an example, which the browser then does not run', () => {
  const names = ['roll_dice', 'get_current_time'];
  expect(namesOf(sessionTools(names, custom))).toEqual(['get_current_time', 'roll_dice']);
  expect(namesOf(runnableTools(names, custom))).toEqual(['get_current_time']);
});
