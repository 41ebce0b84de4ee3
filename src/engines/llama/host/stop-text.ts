/** Cuts a text that comes in pieces before the first of some stop texts. */
export class StopText {
  readonly #stops: readonly string[];
  /** End of the text so far that may be the beginning of a stop. */
  #held = '';
  #stopped = false;

  /** @param stops none of them empty. */
  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Whether a stop has come. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Takes a piece and gives what of the text is certain not to be a stop or after one. */
  push(piece: string): string {
    if (this.#stopped) return '';
    const text = this.#held + piece;
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    if (found.length > 0) {
      this.#stopped = true;
      this.#held = '';
      return text.slice(0, Math.min(...found));
    }
    const held = Math.max(0, ...this.#stops.map((stop) => overlap(text, stop)));
    this.#held = text.slice(text.length - held);
    return text.slice(0, text.length - held);
  }

  /** The text has ended: what is left of it. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/** Length of the longest end of the text that begins the stop, but is not all of it. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length -= 1) {
    if (stop.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
