/** Results of lines that are in no part yet. */

import type { LineBill } from '../../../src/contract/accounts/calls.ts';
import type { BatchPart, BatchTokens } from '../../../src/contract/stores/batch-store.ts';

/** What came of a line. */
export interface LineResult {
  readonly kind: BatchPart['kind'];
  /** With what ends the line. */
  readonly text: string;
  readonly bills: readonly LineBill[];
}

/** Of one piece of a part; a line that is longer is a piece by itself. */
const PIECE_BYTES = 256 * 1024;

export class UnsavedResults {
  readonly bills: LineBill[] = [];
  readonly #lines: Record<BatchPart['kind'], LineBytes> = { output: new LineBytes(), error: new LineBytes() };
  #inputTokens = 0;
  #outputTokens = 0;

  add({ kind, text, bills }: LineResult): void {
    this.#lines[kind].add(text);
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

  /** Of all of it. */
  get lengthBytes(): number {
    return this.#lines.output.lengthBytes + this.#lines.error.lengthBytes;
  }

  get tokens(): BatchTokens {
    return { input: this.#inputTokens, output: this.#outputTokens };
  }

  countOf(kind: BatchPart['kind']): number {
    return this.#lines[kind].count;
  }

  /** The bytes of a part, some lines at a time: one alone may be large, and there may be many small ones. */
  async *bytesOf(kind: BatchPart['kind']): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#lines[kind].pieces();
  }
}

/** Lines as bytes. Thousands of texts that wait to be saved would outlive the young ones of the collector, and stay for long. */
class LineBytes {
  readonly #pieces: { readonly bytes: Buffer; usedBytes: number }[] = [];
  #count = 0;
  #lengthBytes = 0;

  get count(): number {
    return this.#count;
  }

  get lengthBytes(): number {
    return this.#lengthBytes;
  }

  add(text: string): void {
    const lengthBytes = Buffer.byteLength(text);
    let piece = this.#pieces.at(-1);
    if (piece === undefined || piece.usedBytes + lengthBytes > piece.bytes.length) {
      piece = { bytes: Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, lengthBytes)), usedBytes: 0 };
      this.#pieces.push(piece);
    }
    piece.bytes.write(text, piece.usedBytes);
    piece.usedBytes += lengthBytes;
    this.#count += 1;
    this.#lengthBytes += lengthBytes;
  }

  *pieces(): Generator<Uint8Array, void, undefined> {
    for (const { bytes, usedBytes } of this.#pieces) yield bytes.subarray(0, usedBytes);
  }
}
