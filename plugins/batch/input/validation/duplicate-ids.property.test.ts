import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownIds } from './duplicate-ids.ts';

/** What ids are made of; halves of a pair are different texts, though in UTF-8 they are the same. */
const units = fc.constantFrom('a', 'b', '0', 'é', '\ud83d', '\ude00', '\ufffd', '\0');
const ids = fc.array(fc.string({ unit: units, maxLength: 3 }), { maxLength: 200 });

describe('an id is new', () => {
  it('when a set of strings says so', () => {
    fc.assert(
      fc.property(ids, (all) => {
        const known = new KnownIds(200);
        const set = new Set<string>();
        for (const id of all) {
          expect(known.add(id)).toBe(!set.has(id));
          set.add(id);
        }
      }),
    );
  });

  it('however many there are, short and long', () => {
    const most = 50_000;
    const known = new KnownIds(most);
    const id = (place: number) => `${place}${'x'.repeat(place % 1020)}`;
    const addAll = () => Array.from({ length: most }, (_, place) => known.add(id(place)));
    expect(addAll().every((isNew) => isNew)).toBe(true);
    expect(addAll().some((isNew) => isNew)).toBe(false);
  });
});
