import { describe, expect, test } from 'vitest';
import { MAX_INPUT_FILE_BYTES } from '../../../src/contract/stores/file-store.ts';
import { PREVIEW_BYTES, PREVIEW_LINES, previewOf, readFileHead, textHead } from './input-preview.ts';

const line = (id: string, more: object = {}) =>
  JSON.stringify({ custom_id: id, body: { model: 'm', input: 'x' }, ...more });
const whole = (text: string) => previewOf({ text, size: text.length, isWhole: true });
const hints = (...lines: readonly string[]) => whole(lines.join('\n')).lines.map(({ hint }) => hint);

test('the preview has the first lines with their line numbers', () => {
  const lines = Array.from({ length: 9 }, (_, index) => line(`${index}`));
  const { lines: shown, hint } = whole(['', ...lines].join('\r\n'));
  expect(shown).toHaveLength(PREVIEW_LINES);
  expect(shown[0]).toEqual({ number: 2, text: lines[0], hint: undefined });
  expect(hint).toBeUndefined();
});

test('lines that the service would reject have a hint', () => {
  expect(hints('{', '[]', '{"body":{}}', '{"custom_id":"a"}', '{"custom_id":"b","body":{}}')).toEqual([
    'Not a JSON object.',
    'Not a JSON object.',
    '"custom_id" is missing.',
    '"body" is missing: the request as an object.',
    '"body.model" is missing.',
  ]);
  expect(hints(line('a'), line('a'), line('b'))).toEqual([
    undefined,
    '"custom_id" is not unique: an earlier line uses it.',
    undefined,
  ]);
});

test('a byte order mark is ignored and long lines are truncated', () => {
  const { lines } = whole(`\uFEFF${line('a', { note: 'x'.repeat(1000) })}`);
  expect(lines).toMatchObject([{ hint: undefined, text: expect.stringMatching(/^\{.{399} …$/) }]);
});

describe('the endpoint is read from the lines', () => {
  test.each([
    [[line('a', { url: '/v1/responses' })], '/v1/responses'],
    [[line('a'), line('b', { url: '/v1/embeddings' })], '/v1/embeddings'],
    [[line('a', { url: '/v1/other' })], undefined],
    [['{'], undefined],
  ])('%#', (lines, endpoint) => {
    expect(whole(lines.join('\n')).endpoint).toBe(endpoint);
  });
});

test('empty files and files that are too large have a hint', () => {
  expect(whole('\n\n').hint).toMatch(/no requests/);
  expect(previewOf({ text: line('a'), size: MAX_INPUT_FILE_BYTES, isWhole: false }).hint).toBeUndefined();
  expect(previewOf({ text: line('a'), size: MAX_INPUT_FILE_BYTES + 1, isWhole: false }).hint).toMatch(
    /maximum is/,
  );
});

test('only the beginning of a file is read, and a truncated last line is ignored', async () => {
  const long = new Blob([`${line('a')}\n`.repeat(10_000)]);
  const beginning = await readFileHead(long);
  expect(beginning).toMatchObject({ size: long.size, isWhole: false });
  expect(beginning.text).toHaveLength(PREVIEW_BYTES);
  const one = await readFileHead(new Blob([line('a', { note: 'x'.repeat(PREVIEW_BYTES) })]));
  expect(previewOf(one)).toMatchObject({ lines: [{ number: 1, hint: undefined }], hint: undefined });
  expect(await readFileHead(new Blob([line('a')]))).toMatchObject({ isWhole: true });
  const text = await long.text();
  expect(textHead(text, long.size)).toEqual(beginning);
  expect(textHead('é', 2)).toEqual({ text: 'é', size: 2, isWhole: true });
});
