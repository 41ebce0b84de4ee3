import fc from 'fast-check';
import { expect, it } from 'vitest';
import { attachment } from './attachment.ts';

it.each([
  ['lines.jsonl', `attachment; filename="lines.jsonl"; filename*=UTF-8''lines.jsonl`],
  ['a b', `attachment; filename="a b"; filename*=UTF-8''a%20b`],
  ['Grüße.jsonl', `attachment; filename="Gr__e.jsonl"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.jsonl`],
  ['a"\\%.x', `attachment; filename="a___.x"; filename*=UTF-8''a%22%5C%25.x`],
  ["it's (1)*", `attachment; filename="it's (1)*"; filename*=UTF-8''it%27s%20%281%29%2A`],
  ['a\r\nx-evil: 1', `attachment; filename="a__x-evil: 1"; filename*=UTF-8''a%0D%0Ax-evil%3A%201`],
  ['\ud800', `attachment; filename="_"; filename*=UTF-8''%EF%BF%BD`],
])('%j', (filename, header) => {
  expect(attachment(filename)).toBe(header);
});

it('is a valid header for every name, and decodes to the name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (filename) => {
      const header = attachment(filename);
      expect(new Headers({ 'content-disposition': header }).get('content-disposition')).toBe(header);
      const [, encoded = ''] = /filename\*=UTF-8''(.*)$/.exec(header) ?? [];
      expect(decodeURIComponent(encoded)).toBe(filename.toWellFormed());
    }),
  );
});
