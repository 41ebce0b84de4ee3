import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReasoningFilter } from './reasoning-filter.ts';

function filtered(...pieces: readonly string[]): string {
  const filter = new ReasoningFilter();
  return pieces.map((piece) => filter.push(piece)).join('') + filter.end();
}

test.each([
  ['text without reasoning', ['Hello < there <thin'], 'Hello < there <thin'],
  ['reasoning before the text', ['<think>Hm', 'm.</think>Hello'], 'Hello'],
  ['marks in pieces', ['A<th', 'ink>x</', 'think', '>B'], 'AB'],
  ['reasoning without an end', ['A<think>x'], 'A'],
  ['several stretches', ['<think>1</think>A<think>2</think>B'], 'AB'],
])('%s', (_, pieces, expected) => {
  expect(filtered(...pieces)).toBe(expected);
});

test('does not depend on how the text arrives', () => {
  const piece = fc.constantFrom('<think>', '</think>', '<', 'th', 'ink>', 'a', '</', ' ');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      expect(filtered(...pieces)).toBe(filtered(...pieces.join('')));
    }),
  );
});
