import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../src/kit/math/seeded-random.ts';

const SENTENCES = readFileSync(join(import.meta.dirname, '../corpus/texts.txt'), 'utf8')
  .trim()
  .split('\n');
const MAX_SENTENCES = 4;

/** Distinct texts of one to four sentences. Deterministic. */
export function embeddingTexts(count: number): string[] {
  const random = seededRandom(1);
  return Array.from({ length: count }, (_, at) => {
    const sentences = Array.from(
      { length: 1 + Math.floor(random() * MAX_SENTENCES) },
      () => SENTENCES[Math.floor(random() * SENTENCES.length)],
    );
    return `${at}. ${sentences.join(' ')}`;
  });
}
