/** Tracks which lines of a batch are finished or in flight. Its progress lets another runner resume. Pure. */

import { type BatchProgress, MAX_LINES_AHEAD } from '../../../src/contract/stores/batch-store.ts';
import type { InputLine, LinePosition } from '../input/line-splitter.ts';

/** The position of a line, without its bytes. */
export type LineSpan = Pick<InputLine, 'number' | 'startBytes' | 'endBytes'>;

export class ProgressWindow {
  /** Start offsets of the lines in flight, by line number in ascending order. */
  readonly #inFlight = new Map<number, number>();
  /** Finished lines. Unfinished lines may precede them. */
  readonly #finished: Set<number>;
  /** Position after the last started line. */
  #nextPosition: LinePosition;

  constructor({ offsetBytes, line, ahead }: BatchProgress) {
    this.#nextPosition = { offsetBytes, line };
    this.#finished = new Set(ahead);
  }

  /** Position from which to continue reading. */
  get nextPosition(): LinePosition {
    return this.#nextPosition;
  }

  /** Whether a line may start without exceeding the number of out-of-order lines that progress can represent. */
  canStart({ number }: LineSpan): boolean {
    const [first = number] = this.#inFlight.keys();
    return number - first <= MAX_LINES_AHEAD;
  }

  /** Starts the next line of the file. Returns false if an earlier run has its result. */
  startLine({ number, startBytes, endBytes }: LineSpan): boolean {
    this.#nextPosition = { offsetBytes: endBytes, line: number + 1 };
    if (this.#finished.has(number)) return false;
    this.#inFlight.set(number, startBytes);
    return true;
  }

  /** Marks a line in flight as finished. */
  finishLine(number: number): void {
    this.#inFlight.delete(number);
    this.#finished.add(number);
  }

  /** The progress of the batch once every result so far is saved. */
  progress(): BatchProgress {
    const [first] = this.#inFlight;
    const [line, offsetBytes] = first ?? [this.#nextPosition.line, this.#nextPosition.offsetBytes];
    for (const number of this.#finished) if (number < line) this.#finished.delete(number);
    return { offsetBytes, line, ahead: [...this.#finished].sort((a, b) => a - b) };
  }
}
