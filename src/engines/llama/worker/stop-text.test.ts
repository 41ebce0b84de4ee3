import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StopText } from './stop-text.ts';

/** The output for a text in these pieces. */
function through(stops: readonly string[], pieces: readonly string[]): string {
  const text = new StopText(stops);
  return pieces.map((piece) => text.push(piece)).join('') + text.end();
}

it('passes the text before the first stop sequence, for any split', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '😀'), maxLength: 20 });
  const stop = fc.string({ unit: fc.constantFrom('a', 'b', '😀'), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(letters, stop, fc.array(fc.nat(20)), (text, only, cuts) => {
      const characters = [...text];
      const ends = [...cuts.filter((at) => at <= characters.length), characters.length].sort((a, b) => a - b);
      const pieces = ends.map((end, i) => characters.slice(ends[i - 1] ?? 0, end).join(''));
      const at = text.indexOf(only);
      expect(through([only], pieces)).toBe(at < 0 ? text : text.slice(0, at));
    }),
  );
});

it('supports several stop sequences and reports that one was found', () => {
  expect(through(['xyz', 'b'], ['a', 'x', 'y', 'b'])).toBe('axy');
  const text = new StopText(['b']);
  expect([text.push('a'), text.stopped, text.push('cbd'), text.stopped, text.push('e'), text.end()]).toEqual([
    'a',
    false,
    'c',
    true,
    '',
    '',
  ]);
  expect(through([], ['any', 'thing'])).toBe('anything');
});
