/**
 * Texts to read aloud, about ten seconds each, with varied prosody: statements, a question, a list, numbers.
 */
export const READING_TEXTS: readonly string[] = [
  'The harbour was quiet that morning, and only two of the boats had gone out. Would anybody bring fish for the market, or was it eggs and bread again?',
  'Please take the third door on the left, not the second. Behind it are coffee, tea, fruit and a view of the river that no one ever gets tired of.',
  'We left home at seven, missed the first train, and still arrived before the others. How did they lose a whole hour on such a clear and sunny day?',
];
