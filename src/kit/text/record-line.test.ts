import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asRecordLine, toRecordLine } from './record-line.ts';

/** Line ends of Python's `str.splitlines`, which readers of event streams and JSONL use. */
const LINE_ENDS = ['\n', '\r', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029'];

test('escapes the line separators that JSON allows', () => {
  expect(toRecordLine({ a: 'x\u2028y\u2029z\u0085' })).toBe('{"a":"x\\u2028y\\u2029z\\u0085"}');
  expect(asRecordLine('{"a":"x"}')).toBe('{"a":"x"}');
});

test('a record has one line for every reader, and the same value', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '\\', '"', '\n', '\r', '\v', '\x1c', '\u0085', '\u2028', '\u2029', '😀'),
  });
  fc.assert(
    fc.property(fc.dictionary(text, text), (value) => {
      const line = toRecordLine(value);
      for (const end of LINE_ENDS) expect(line).not.toContain(end);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
