import { expect, test } from 'vitest';
import { OPERATION_URLS } from '../../../src/contract/engines/operation.ts';
import { ENDPOINTS } from './batch-wire.ts';
import { buildInputLines } from './input-builder.ts';
import { previewOf } from './input-preview.ts';

test('the endpoints match those of the batch plugin', () => {
  expect(ENDPOINTS.toSorted()).toEqual(OPERATION_URLS.toSorted());
});

test.each(ENDPOINTS)('each text becomes a valid line for %s', (endpoint) => {
  const text = buildInputLines('A cat sat.\n\n  Say "hi"  \n', endpoint, 'm');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ custom_id: id, url, body }) => [id, url, body.model])).toEqual([
    ['line-1', endpoint, 'm'],
    ['line-2', endpoint, 'm'],
  ]);
  const requestFields = lines.map(({ body }) => body.input ?? body.messages[0].content);
  expect(requestFields).toEqual(['A cat sat.', 'Say "hi"']);
  const preview = previewOf({ text, size: text.length, isWhole: true });
  expect(preview).toMatchObject({
    endpoint,
    hint: undefined,
    lines: [{ hint: undefined }, { hint: undefined }],
  });
});

test('empty input has no lines', () => {
  expect(buildInputLines(' \n\n', '/v1/embeddings', 'm')).toBe('');
});
