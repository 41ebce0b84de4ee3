import { describe, expect, test } from 'vitest';
import { INPUT_FILE_BYTES } from '../../../src/contract/stores/file-store.ts';
import { beginningOf, beginningOfText, PREVIEW_BYTES, PREVIEW_LINES, previewOf } from './input-preview.ts';

const line = (id: string, more: object = {}) =>
  JSON.stringify({ custom_id: id, body: { model: 'm', input: 'x' }, ...more });
const whole = (text: string) => previewOf({ text, size: text.length, isWhole: true });
const hints = (...lines: readonly string[]) => whole(lines.join('\n')).lines.map(({ hint }) => hint);

test('the first lines, by their numbers in the file', () => {
  const lines = Array.from({ length: 9 }, (_, index) => line(`${index}`));
  const { lines: shown, hint } = whole(['', ...lines].join('\r\n'));
  expect(shown).toHaveLength(PREVIEW_LINES);
  expect(shown[0]).toEqual({ number: 2, text: lines[0], hint: undefined });
  expect(hint).toBeUndefined();
});

test('what the service would refuse is hinted at', () => {
  expect(hints('{', '[]', '{"body":{}}', '{"custom_id":"a"}', '{"custom_id":"b","body":{}}')).toEqual([
    'This is no JSON object.',
    'This is no JSON object.',
    'It needs a "custom_id".',
    'It needs a "body": the request.',
    'Its body needs a "model".',
  ]);
  expect(hints(line('a'), line('a'), line('b'))).toEqual([
    undefined,
    'A line above has the same "custom_id".',
    undefined,
  ]);
});

test('a byte order mark and long lines are no fault, but shown short', () => {
  const { lines } = whole(`\uFEFF${line('a', { note: 'x'.repeat(1000) })}`);
  expect(lines).toMatchObject([{ hint: undefined, text: expect.stringMatching(/^\{.{399} …$/) }]);
});

describe('the endpoint is taken from the lines', () => {
  test.each([
    [[line('a', { url: '/v1/responses' })], '/v1/responses'],
    [[line('a'), line('b', { url: '/v1/embeddings' })], '/v1/embeddings'],
    [[line('a', { url: '/v1/other' })], undefined],
    [['{'], undefined],
  ])('%#', (lines, endpoint) => {
    expect(whole(lines.join('\n')).endpoint).toBe(endpoint);
  });
});

test('files that are empty or too large are hinted at', () => {
  expect(whole('\n\n').hint).toMatch(/no line/);
  expect(previewOf({ text: line('a'), size: INPUT_FILE_BYTES, isWhole: false }).hint).toBeUndefined();
  expect(previewOf({ text: line('a'), size: INPUT_FILE_BYTES + 1, isWhole: false }).hint).toMatch(/at most/);
});

test('only the beginning of a file is read, and a line that was cut is no fault', async () => {
  const long = new Blob([`${line('a')}\n`.repeat(10_000)]);
  const beginning = await beginningOf(long);
  expect(beginning).toMatchObject({ size: long.size, isWhole: false });
  expect(beginning.text).toHaveLength(PREVIEW_BYTES);
  const one = await beginningOf(new Blob([line('a', { note: 'x'.repeat(PREVIEW_BYTES) })]));
  expect(previewOf(one)).toMatchObject({ lines: [{ number: 1, hint: undefined }], hint: undefined });
  expect(await beginningOf(new Blob([line('a')]))).toMatchObject({ isWhole: true });
  const text = await long.text();
  expect(beginningOfText(text, long.size)).toEqual(beginning);
  expect(beginningOfText('é', 2)).toEqual({ text: 'é', size: 2, isWhole: true });
});
