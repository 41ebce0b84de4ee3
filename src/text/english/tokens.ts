/**
 * A text cut at white space, each piece with the punctuation around it set apart. Readers look at the
 * cores and at a few neighbours, so the whole reading stays linear in the length of the text.
 */

/** One piece of text between two white spaces. */
export interface Chunk {
  /** Opening punctuation: quotes and brackets, for instance `“(`. */
  readonly before: string;
  /** The word, number or address itself; empty for a piece of bare punctuation. */
  readonly core: string;
  /** Closing punctuation: `.”`, `),`. */
  readonly after: string;
}

/** What a reader makes of one or more chunks. */
export interface Reading {
  /** Words as people say them, without the outer punctuation. May hold inner punctuation. */
  readonly spoken: string;
  /** How many chunks these words stand for, at least 1. */
  readonly used: number;
  /** Opening punctuation when it differs from that of the first chunk: the bracket of "(555)" is eaten. */
  readonly before?: string;
  /** Closing punctuation when it differs from that of the last chunk used: the dot of "Dr." is eaten. */
  readonly after?: string | undefined;
}

/** Reads the chunks from index `at`, or leaves them to the next reader. */
export type Reader = (chunks: readonly Chunk[], at: number) => Reading | undefined;

const OPENING = new Set([...'"\'“([{']);
const CLOSING = new Set([...'"\'”)]}.,;:!?…']);

/** Cuts `text` at white space. Linear. */
export function chunksOf(text: string): Chunk[] {
  const chunks: Chunk[] = [];
  for (const piece of text.split(/\s+/u)) if (piece !== '') chunks.push(chunkOf(piece));
  return chunks;
}

function chunkOf(piece: string): Chunk {
  let start = 0;
  let end = piece.length;
  while (start < end && OPENING.has(piece[start] ?? '')) start++;
  // A bracket that opens inside the core closes there: "item(s)", "call()".
  let open = piece.slice(start).split('(').length - piece.slice(start).split(')').length;
  while (end > start && CLOSING.has(piece[end - 1] ?? '')) {
    if (piece[end - 1] === ')' && ++open > 0) break;
    end--;
  }
  return { before: piece.slice(0, start), core: piece.slice(start, end), after: piece.slice(end) };
}

/** Core of the chunk at `at`, or an empty string beyond the end. */
export function coreAt(chunks: readonly Chunk[], at: number): string {
  return chunks[at]?.core ?? '';
}

/**
 * True when nothing stands between chunk `at` and the next one: they can be read together.
 * @param allowed closing punctuation that does not part them, such as "," in "March 3, 2024"
 */
export function joined(chunks: readonly Chunk[], at: number, allowed = ''): boolean {
  const chunk = chunks[at];
  const next = chunks[at + 1];
  if (chunk === undefined || next === undefined || next.before !== '') return false;
  return chunk.after === '' || chunk.after === allowed;
}
