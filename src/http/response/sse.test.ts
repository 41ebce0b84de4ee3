import { expect, test } from 'vitest';
import { ServiceError } from '../../contract/core/error.ts';
import { sseError, sseEvent, sseNamedEvent } from './sse.ts';

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test('line separators in texts do not end a line of an event', () => {
  const delta = 'a\u2028b\u2029c\u0085d';
  const escaped = 'a\\u2028b\\u2029c\\u0085d';
  expect(text(sseEvent({ delta }))).toBe(`data: {"delta":"${escaped}"}\n\n`);
  expect(text(sseNamedEvent('x.delta', { delta }))).toBe(`event: x.delta\ndata: {"delta":"${escaped}"}\n\n`);
  expect(text(sseError(new ServiceError('internal', delta)))).toContain(escaped);
});
