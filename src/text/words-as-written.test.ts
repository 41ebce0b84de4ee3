import { expect, test } from 'vitest';
import { wordsAsWritten } from './words-as-written.ts';

test.each([
  ['de', 'Am 3. Mai 2024.', 'Am 3. mai 2024.'],
  ['de', '3. Mai: frei', '3. mai: frei'],
  ['de', '12. März', '12. märz'],
  ['de', 'im (19. Jahrhundert)', 'im (19. jahrhundert)'],
  ['de', '1. Erstens', '1. Erstens'],
  ['de', 'Am 3. DVD-Tag um 12:30', 'Am 3. DVD-Tag um 12:30'],
  ['cs', '3. Května', '3. května'],
  ['und', '3. Mai', '3. Mai'],
  ['not a tag', '3. Mai', '3. Mai'],
  ['de', 'Nr. 3. 4', 'Nr. 3. 4'],
])('%s: %s', (language, text, expected) => {
  const words = wordsAsWritten(text, language);
  expect(words.map((word) => word.text).join(' ')).toBe(expected);
  expect(words.map(({ source }) => source)).toEqual(Array.from(text.matchAll(/\S+/gu), ({ index }) => index));
});
