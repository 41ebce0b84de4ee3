import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLimitViolation, MAX_JSON_LEVELS, MAX_JSON_PARTS, MAX_JSON_VALUES } from './json-limits.ts';

const excess = (text: string) => jsonLimitViolation(new TextEncoder().encode(text));
const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
const list = (item: string, count: number) => `[${`${item},`.repeat(count - 1)}${item}]`;

it('ignores the content of strings and counts everything else', () => {
  const unit = fc.constantFrom(
    '"',
    '\\',
    '\\\\',
    '[',
    '{',
    ',',
    ':',
    'ä',
    '\n',
    'x'.repeat(30),
    'x'.repeat(70),
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
      const beside = (levels: number) =>
        `[${JSON.stringify(text)},${nested(levels)},${JSON.stringify(text)}]`;
      expect(excess(beside(MAX_JSON_LEVELS - 2))).toBeUndefined();
      expect(excess(beside(MAX_JSON_LEVELS))).toBeDefined();
    }),
    { numRuns: 500 },
  );
  expect(excess(JSON.stringify(['"[{,:\\'.repeat(MAX_JSON_VALUES)]))).toBeUndefined();
});

describe('rejects more', () => {
  it('levels than allowed', () => {
    expect(excess(nested(MAX_JSON_LEVELS))).toBeUndefined();
    expect(excess(nested(MAX_JSON_LEVELS + 2))).toContain('100 nested lists and objects');
    expect(excess(list('[[]]', 1000))).toBeUndefined();
  });

  it.each([
    ['lists', list('[]', MAX_JSON_PARTS - 1), list('[]', MAX_JSON_PARTS)],
    ['objects', list('{}', MAX_JSON_PARTS - 1), list('{}', MAX_JSON_PARTS)],
    ['fields', list('{"a":1}', MAX_JSON_PARTS / 2 - 1), list('{"a":1}', MAX_JSON_PARTS / 2)],
  ])('%s than allowed', (_, max, more) => {
    expect(excess(max)).toBeUndefined();
    expect(excess(more)).toContain('50000 lists, objects and fields');
  });

  it('values than allowed', () => {
    expect(excess(list('1', MAX_JSON_VALUES + 1))).toBeUndefined();
    expect(excess(list('1', MAX_JSON_VALUES + 2))).toContain('1000000 values');
  });
});

it('terminates for invalid JSON', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(jsonLimitViolation(bytes)).toBeUndefined();
    }),
  );
  for (const text of ['"', '"\\', ']]]]', '{"a":"']) expect(excess(text)).toBeUndefined();
});

it('accepts the largest texts, which are parsed', () => {
  const worst = [
    list('1', MAX_JSON_VALUES),
    `{${Array.from({ length: MAX_JSON_PARTS - 1 }, (_, at) => `"${at}":1`).join(',')}}`,
    list('[]', MAX_JSON_PARTS - 1),
    JSON.stringify('x'.repeat(8_000_000)),
    JSON.stringify(`${'x'.repeat(70)}"`.repeat(100_000)),
  ];
  for (const text of worst) {
    expect(excess(text)).toBeUndefined();
    JSON.parse(text);
  }
});
