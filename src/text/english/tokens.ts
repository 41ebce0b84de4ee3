/**
 * Splits text at white space and separates the outer punctuation of each chunk. Readers inspect a chunk and
 * only a few neighbours, so that normalization stays linear in the length of the text.
 */

import type { TracedText } from '../traced-text.ts';

/** Text between two white spaces. */
export interface Chunk {
  /** Opening punctuation: quotes and brackets, for example `“(`. */
  readonly before: string;
  /** The word, number or address; empty for a chunk of punctuation only. */
  readonly core: string;
  /** Closing punctuation: `.”`, `),`. */
  readonly after: string;
  /** Position of its first character in the source text. */
  readonly source: number;
}

/** The result of a reader for one or more chunks. */
export interface Reading {
  /**
   * Spoken words of each chunk that was read, without the outer punctuation. May contain inner punctuation. Empty for a
   * chunk without words of its own: in "USD 20", the currency is spoken last.
   */
  readonly spoken: readonly string[];
  /** Opening punctuation if it differs from that of the first chunk: the bracket of "(555)" is removed. */
  readonly before?: string;
  /** Closing punctuation if it differs from that of the last chunk: the dot of "Dr." is removed. */
  readonly after?: string | undefined;
}

/** Reads the chunks from index `at`; undefined if it does not match. */
export type Reader = (chunks: readonly Chunk[], at: number) => Reading | undefined;

const OPENING = new Set([...'"\'“([{']);
const CLOSING = new Set([...'"\'”)]}.,;:!?…']);

/** Splits `text` at white space. Linear. */
export function chunksOf(text: TracedText): Chunk[] {
  const chunks: Chunk[] = [];
  for (const { 0: piece, index } of text.text.matchAll(/\S+/gu)) {
    chunks.push({ ...partsOf(piece), source: text.sourceOf(index) });
  }
  return chunks;
}

function partsOf(piece: string): Omit<Chunk, 'source'> {
  let start = 0;
  let end = piece.length;
  while (start < end && OPENING.has(piece[start] ?? '')) start++;
  // A bracket that opens inside the core also closes there: "item(s)", "call()".
  let open = piece.slice(start).split('(').length - piece.slice(start).split(')').length;
  while (end > start && CLOSING.has(piece[end - 1] ?? '')) {
    if (piece[end - 1] === ')' && ++open > 0) break;
    end--;
  }
  return { before: piece.slice(0, start), core: piece.slice(start, end), after: piece.slice(end) };
}

/** Core of the chunk at `at`; an empty string beyond the end. */
export function coreAt(chunks: readonly Chunk[], at: number): string {
  return chunks[at]?.core ?? '';
}

/**
 * Whether no punctuation separates chunk `at` from the next one, so that they can be read together.
 * @param allowed closing punctuation that does not separate them, such as "," in "March 3, 2024".
 */
export function joined(chunks: readonly Chunk[], at: number, allowed = ''): boolean {
  const chunk = chunks[at];
  const next = chunks[at + 1];
  if (chunk === undefined || next === undefined || next.before !== '') return false;
  return chunk.after === '' || chunk.after === allowed;
}
