/** Truncates streamed text before the first stop sequence. */
export class StopText {
  readonly #stops: readonly string[];
  /** End of the text that may be the start of a stop sequence. */
  #buffered = '';
  #stopped = false;

  /** @param stops stop sequences, not empty. */
  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Whether a stop sequence was found. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Adds a piece and returns the text that is neither part of a stop sequence nor after one. */
  push(piece: string): string {
    if (this.#stopped) return '';
    const text = this.#buffered + piece;
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    if (found.length > 0) {
      this.#stopped = true;
      this.#buffered = '';
      return text.slice(0, Math.min(...found));
    }
    const overlapLength = Math.max(0, ...this.#stops.map((stop) => overlap(text, stop)));
    this.#buffered = text.slice(text.length - overlapLength);
    return text.slice(0, text.length - overlapLength);
  }

  /** Returns the buffered rest at the end of the text. */
  end(): string {
    const rest = this.#buffered;
    this.#buffered = '';
    return rest;
  }
}

/** Length of the longest suffix of the text that is a proper prefix of the stop sequence. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length -= 1) {
    if (stop.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
