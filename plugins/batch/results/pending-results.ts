/** Results of lines that are not saved yet. */

import type { LineBill } from '../../../src/contract/accounts/calls.ts';
import type { BatchPart, BatchTokens } from '../../../src/contract/stores/batch-store.ts';

/** The result of a line. */
export interface LineResult {
  readonly kind: BatchPart['kind'];
  /** The result line including the newline. */
  readonly text: string;
  readonly bills: readonly LineBill[];
}

/** Size of a chunk. A longer line has its own chunk. */
const CHUNK_BYTES = 256 * 1024;

export class PendingResults {
  readonly bills: LineBill[] = [];
  readonly #lines: Record<BatchPart['kind'], LineBytes> = { output: new LineBytes(), error: new LineBytes() };
  #inputTokens = 0;
  #outputTokens = 0;

  add({ kind, text, bills }: LineResult): void {
    this.#lines[kind].add(text);
    for (const bill of bills) {
      this.bills.push(bill);
      // Only succeeded lines count towards the tokens of a batch.
      if (kind === 'error') continue;
      this.#inputTokens += bill.record.inputTokens;
      this.#outputTokens += bill.record.outputTokens;
    }
  }

  get lines(): number {
    return this.countOf('output') + this.countOf('error');
  }

  /** Total length of the buffered lines, in bytes. */
  get lengthBytes(): number {
    return this.#lines.output.lengthBytes + this.#lines.error.lengthBytes;
  }

  get tokens(): BatchTokens {
    return { input: this.#inputTokens, output: this.#outputTokens };
  }

  countOf(kind: BatchPart['kind']): number {
    return this.#lines[kind].count;
  }

  /** Yields the bytes of a part in chunks of several lines: a single line may be large, and there may be many. */
  async *bytesOf(kind: BatchPart['kind']): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#lines[kind].chunks();
  }
}

/** Lines as bytes. Thousands of buffered strings would survive young-generation garbage collection and stay in memory. */
class LineBytes {
  readonly #chunks: { readonly bytes: Buffer; usedBytes: number }[] = [];
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
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.usedBytes + lengthBytes > chunk.bytes.length) {
      chunk = { bytes: Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, lengthBytes)), usedBytes: 0 };
      this.#chunks.push(chunk);
    }
    chunk.bytes.write(text, chunk.usedBytes);
    chunk.usedBytes += lengthBytes;
    this.#count += 1;
    this.#lengthBytes += lengthBytes;
  }

  *chunks(): Generator<Uint8Array, void, undefined> {
    for (const { bytes, usedBytes } of this.#chunks) yield bytes.subarray(0, usedBytes);
  }
}
