/** Results of lines that are in no part yet. */

import type { BatchPart, BatchTokens } from '../../src/contract/batch-store.ts';
import type { LineBill } from '../../src/contract/calls.ts';

/** What came of a line. */
export interface LineResult {
  readonly kind: BatchPart['kind'];
  /** With what ends the line. */
  readonly text: string;
  readonly bills: readonly LineBill[];
}

/** Characters of one piece of a part. */
const PIECE_CHARACTERS = 256 * 1024;

export class UnsavedResults {
  readonly bills: LineBill[] = [];
  readonly #texts: Record<BatchPart['kind'], string[]> = { output: [], error: [] };
  #characters = 0;
  #inputTokens = 0;
  #outputTokens = 0;

  add({ kind, text, bills }: LineResult): void {
    this.#texts[kind].push(text);
    this.#characters += text.length;
    for (const bill of bills) {
      this.bills.push(bill);
      // Tokens of a batch are those of lines that succeeded.
      if (kind === 'error') continue;
      this.#inputTokens += bill.record.inputTokens;
      this.#outputTokens += bill.record.outputTokens;
    }
  }

  get lines(): number {
    return this.countOf('output') + this.countOf('error');
  }

  /** How long all of it is, which is about its bytes. */
  get characters(): number {
    return this.#characters;
  }

  get tokens(): BatchTokens {
    return { input: this.#inputTokens, output: this.#outputTokens };
  }

  countOf(kind: BatchPart['kind']): number {
    return this.#texts[kind].length;
  }

  /** The bytes of a part, some lines at a time: one alone may be large, and there may be many small ones. */
  async *bytesOf(kind: BatchPart['kind']): AsyncGenerator<Uint8Array, void, undefined> {
    let piece: string[] = [];
    let characters = 0;
    for (const text of this.#texts[kind]) {
      piece.push(text);
      characters += text.length;
      if (characters < PIECE_CHARACTERS) continue;
      yield Buffer.from(piece.join(''));
      piece = [];
      characters = 0;
    }
    if (piece.length > 0) yield Buffer.from(piece.join(''));
  }
}
