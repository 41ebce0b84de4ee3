/** Kokoro's token vocabulary: maps phonemes to ids and splits long phoneme strings into inference steps. */

/** Symbol to id, from the configuration of the model. Every symbol is one code point. */
export type Vocabulary = ReadonlyMap<string, number>;

/** Maximum number of tokens per inference step, without the two padding tokens. */
export const MAX_PASS_TOKENS = 510;

/** Reads the `vocab` object of Kokoro's configuration. @throws Error if it has no ids. */
export function vocabularyOf(vocab: Readonly<Record<string, number>>): Vocabulary {
  const entries = Object.entries(vocab).filter(
    ([symbol, id]) => [...symbol].length === 1 && Number.isInteger(id),
  );
  if (entries.length === 0)
    throw new Error('The vocabulary of the speech model is empty; expected a map of symbols to ids.');
  return new Map(entries);
}

/** Returns the ids of the symbols, without padding. Symbols outside the vocabulary are skipped. */
export function tokensOf(phonemes: string, vocabulary: Vocabulary): number[] {
  const ids: number[] = [];
  for (const symbol of phonemes) {
    const id = vocabulary.get(symbol);
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** Symbols after which a step may end, strongest first. */
const BREAKS: readonly ReadonlySet<string>[] = [
  new Set(['.', '!', '?', '…']),
  new Set([';', ':', ',', '—', ')', '”']),
  new Set([' ']),
];
/**
 * Earliest break as a fraction of the window; before it a weaker but later break is used, to avoid very short
 * steps.
 */
const EARLIEST_BREAK = 0.4;

/**
 * Splits phonemes into steps of at most `limit` symbols: after a sentence, else after a clause, else after a
 * word, else anywhere. Concatenated, the parts are the input. Linear.
 * @param limit maximum number of symbols per part, at least 1.
 */
export function splitPhonemes(phonemes: string, limit = MAX_PASS_TOKENS): string[] {
  const symbols = [...phonemes];
  const parts: string[] = [];
  let from = 0;
  while (symbols.length - from > limit) {
    const end = breakBefore(symbols, from, from + limit);
    parts.push(symbols.slice(from, end).join(''));
    from = end;
  }
  if (from < symbols.length) parts.push(symbols.slice(from).join(''));
  return parts;
}

/** Index after the last acceptable break in symbols[from, end). */
function breakBefore(symbols: readonly string[], from: number, end: number): number {
  const earliest = from + Math.floor((end - from) * EARLIEST_BREAK);
  for (const marks of BREAKS) {
    for (let i = end - 1; i >= earliest; i--) if (marks.has(symbols[i] ?? '')) return i + 1;
  }
  return end;
}
