/** Removes the reasoning that some models write into their text, between `<think>` and `</think>`. */

const OPEN = '<think>';
const CLOSE = '</think>';

export class ReasoningFilter {
  #isReasoning = false;
  /** Text that may be the start of a mark. */
  #held = '';

  /** Adds text. @returns the text that is not reasoning. */
  push(text: string): string {
    let rest = this.#held + text;
    this.#held = '';
    let output = '';
    for (;;) {
      const mark = this.#isReasoning ? CLOSE : OPEN;
      const at = rest.indexOf(mark);
      if (at < 0) break;
      if (!this.#isReasoning) output += rest.slice(0, at);
      rest = rest.slice(at + mark.length);
      this.#isReasoning = !this.#isReasoning;
    }
    const held = partialMark(rest, this.#isReasoning ? CLOSE : OPEN);
    this.#held = rest.slice(rest.length - held);
    return this.#isReasoning ? output : output + rest.slice(0, rest.length - held);
  }

  /** Ends the text. @returns the rest. */
  end(): string {
    const rest = this.#isReasoning ? '' : this.#held;
    this.#held = '';
    return rest;
  }
}

/** Length of the longest end of the text with which the mark starts. */
function partialMark(text: string, mark: string): number {
  for (let length = Math.min(text.length, mark.length - 1); length > 0; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
