import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeenIds } from './duplicate-ids.ts';

/** Alphabet of the ids. Lone surrogates are different strings although their UTF-8 encodings are equal. */
const units = fc.constantFrom('a', 'b', '0', 'é', '\ud83d', '\ude00', '\ufffd', '\0');
const ids = fc.array(fc.string({ unit: units, maxLength: 3 }), { maxLength: 200 });

describe('SeenIds', () => {
  it('agrees with a Set of strings', () => {
    fc.assert(
      fc.property(ids, (all) => {
        const known = new SeenIds(200);
        const set = new Set<string>();
        for (const id of all) {
          expect(known.add(id)).toBe(!set.has(id));
          set.add(id);
        }
      }),
    );
  });

  it('stores many short and long ids', () => {
    const max = 50_000;
    const known = new SeenIds(max);
    const id = (index: number) => `${index}${'x'.repeat(index % 1020)}`;
    const addAll = () => Array.from({ length: max }, (_, index) => known.add(id(index)));
    expect(addAll().every((isNew) => isNew)).toBe(true);
    expect(addAll().some((isNew) => isNew)).toBe(false);
  });
});
