import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ColorIndexes, parseColors, SERIES_COLORS, withColors } from './series-colors.ts';

const name = fc.string({ minLength: 1, maxLength: 30 });

describe('colors of series', () => {
  test('do not depend on the order of the series', () => {
    const names = fc.uniqueArray(name, { maxLength: 7 });
    fc.assert(
      fc.property(names, (series) => {
        expect(withColors(series.toReversed(), {})).toEqual(withColors(series, {}));
      }),
    );
  });

  test('do not change when other series are added', () => {
    const visits = fc.array(fc.uniqueArray(name, { maxLength: 7 }), { maxLength: 5 });
    fc.assert(
      fc.property(visits, (visited) => {
        let known: ColorIndexes = {};
        for (const series of visited) {
          const next = withColors(series, known);
          expect(Object.entries(next)).toEqual(expect.arrayContaining(Object.entries(known)));
          known = next;
        }
      }),
    );
  });

  test('differ as long as there are enough colors', () => {
    const names = SERIES_COLORS.map((_, index) => `model-${index}`);
    const indexes = Object.values(withColors(names, {}));
    expect(new Set(indexes).size).toBe(SERIES_COLORS.length);
    expect(Object.keys(withColors(['one-more'], withColors(names, {})))).toHaveLength(names.length + 1);
  });

  test('forget the names that are not shown when there are too many', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`m${index}`, 3]));
    expect(withColors(['m7', 'new'], many)).toEqual({ m7: 3, new: expect.any(Number) });
  });

  test('are read from stored text; other text is ignored', () => {
    const known = withColors(['a', 'b'], {});
    expect(parseColors(JSON.stringify(known))).toEqual(known);
    for (const text of [null, '', '{', 'null', '7', '[]', '{"a":99,"b":"x","c":null,"d":-1,"e":1.5}']) {
      expect(parseColors(text)).toEqual({});
    }
  });
});
