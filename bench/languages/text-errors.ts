/** Errors of transcripts in any language, by words or by characters. */

export interface TextErrors {
  readonly errors: number;
  /** Words or characters of the text. */
  readonly units: number;
}

/** Levenshtein distance without case, punctuation and accents on capitals. @param by characters for scripts without spaces. */
export function textErrors(text: string, transcript: string, by: 'word' | 'character'): TextErrors {
  const [expected, actual] = [unitsOf(text, by), unitsOf(transcript, by)];
  let row = Array.from({ length: actual.length + 1 }, (_, i) => i);
  for (const [i, unit] of expected.entries()) {
    const next = [i + 1];
    for (const [j, other] of actual.entries()) {
      const swapped = (row[j] ?? 0) + (unit === other ? 0 : 1);
      next.push(Math.min(swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return { errors: row[actual.length] ?? 0, units: expected.length };
}

function unitsOf(text: string, by: 'word' | 'character'): string[] {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
  return by === 'word' ? plain.split(' ') : [...plain.replaceAll(' ', '')];
}
