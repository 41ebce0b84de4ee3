/** Which lines of a batch have results and which are worked on, pure: what a runner saves so that another can go on. */

import { type BatchProgress, MAX_LINES_AHEAD } from '../../../src/contract/stores/batch-store.ts';
import type { InputLine, LinePlace } from '../input/line-splitter.ts';

/** Where a line lies; its bytes are no matter here. */
export type LineSpan = Pick<InputLine, 'number' | 'startBytes' | 'endBytes'>;

export class LineWindow {
  /** Lines that are worked on and where they begin, by number: they begin in order. */
  readonly #open = new Map<number, number>();
  /** Lines with a result that another one without it may precede. */
  readonly #ended: Set<number>;
  /** Behind the last line that was passed. */
  #next: LinePlace;

  constructor({ offsetBytes, line, ahead }: BatchProgress) {
    this.#next = { offsetBytes, line };
    this.#ended = new Set(ahead);
  }

  /** Where to read on. */
  get next(): LinePlace {
    return this.#next;
  }

  /** Whether a line may begin without more of them being ahead than progress can tell. */
  hasRoomFor({ number }: LineSpan): boolean {
    const [first = number] = this.#open.keys();
    return number - first <= MAX_LINES_AHEAD;
  }

  /** Passes the next line of the file; false when an earlier run has its result. */
  begin({ number, startBytes, endBytes }: LineSpan): boolean {
    this.#next = { offsetBytes: endBytes, line: number + 1 };
    if (this.#ended.has(number)) return false;
    this.#open.set(number, startBytes);
    return true;
  }

  /** A line that is worked on has its result. */
  end(number: number): void {
    this.#open.delete(number);
    this.#ended.add(number);
  }

  /** What is behind the batch once every result so far is saved. */
  progress(): BatchProgress {
    const [first] = this.#open;
    const [line, offsetBytes] = first ?? [this.#next.line, this.#next.offsetBytes];
    for (const number of this.#ended) if (number < line) this.#ended.delete(number);
    return { offsetBytes, line, ahead: [...this.#ended].sort((a, b) => a - b) };
  }
}
