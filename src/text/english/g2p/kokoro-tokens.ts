/** Kokoro's token alphabet: phonemes to ids, and long phoneme strings to passes that the model can take. */

/** Symbol → id, from the model's configuration. Every symbol is one code point. */
export type Vocabulary = ReadonlyMap<string, number>;

/** Most tokens of one pass, without the two pads around them. */
export const MAX_PASS_TOKENS = 510;

/** Reads the `vocab` object of Kokoro's configuration. @throws Error when it holds no ids */
export function vocabularyOf(vocab: Readonly<Record<string, number>>): Vocabulary {
  const entries = Object.entries(vocab).filter(
    ([symbol, id]) => [...symbol].length === 1 && Number.isInteger(id),
  );
  if (entries.length === 0)
    throw new Error('The vocabulary of the speech model is empty: a map of symbols to ids is needed.');
  return new Map(entries);
}

/** Ids of the symbols, without pads. Symbols outside the vocabulary are passed over. */
export function tokensOf(phonemes: string, vocabulary: Vocabulary): number[] {
  const ids: number[] = [];
  for (const symbol of phonemes) {
    const id = vocabulary.get(symbol);
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** Marks after which a pass may end, strongest first. */
const BREAKS: readonly ReadonlySet<string>[] = [
  new Set(['.', '!', '?', '…']),
  new Set([';', ':', ',', '—', ')', '”']),
  new Set([' ']),
];
/** A break in the first part of the window would leave a stub; a weaker one further on is taken instead. */
const EARLIEST_BREAK = 0.4;

/**
 * Cuts phonemes into passes of at most `limit` symbols: after a sentence, else a clause, else a word,
 * else anywhere. The parts put together are the input. Linear.
 * @param limit symbols a part, at least 1
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

/** Index after the last good break in symbols[from, end). */
function breakBefore(symbols: readonly string[], from: number, end: number): number {
  const earliest = from + Math.floor((end - from) * EARLIEST_BREAK);
  for (const marks of BREAKS) {
    for (let i = end - 1; i >= earliest; i--) if (marks.has(symbols[i] ?? '')) return i + 1;
  }
  return end;
}
