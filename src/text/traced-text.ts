/** A text, and where in the source text each of its UTF-16 units comes from. */

export class TracedText {
  readonly text: string;
  readonly #sources: readonly number[];

  /** @param sources for each UTF-16 unit of `text`, a position in the source text. */
  private constructor(text: string, sources: readonly number[]) {
    this.text = text;
    this.#sources = sources;
  }

  /** A source text. */
  static of(source: string): TracedText {
    return new TracedText(
      source,
      Array.from({ length: source.length }, (_, at) => at),
    );
  }

  static join(parts: readonly TracedText[], separator = ''): TracedText {
    const ended = parts.map((part, i) => (i < parts.length - 1 ? part.append(separator) : part));
    return new TracedText(
      ended.map(({ text }) => text).join(''),
      ended.flatMap((part) => part.#sources),
    );
  }

  /** The position in the source text of the UTF-16 unit at `at`. */
  sourceOf(at: number): number {
    return this.#sources[at] ?? 0;
  }

  slice(start: number, end?: number): TracedText {
    return new TracedText(this.text.slice(start, end), this.#sources.slice(start, end));
  }

  trim(): TracedText {
    return this.slice(this.text.length - this.text.trimStart().length, this.text.trimEnd().length);
  }

  /** Adds text that comes from the last unit. */
  append(suffix: string): TracedText {
    if (suffix === '') return this;
    return new TracedText(this.text + suffix, [
      ...this.#sources,
      ...new Array<number>(suffix.length).fill(this.#sources.at(-1) ?? 0),
    ]);
  }

  /**
   * Replaces matches. Each unit of a replacement comes from the unit of the match with the same index, or the last one.
   * @param pattern global, and never matches an empty string.
   */
  replace(pattern: RegExp, replacement: (match: RegExpExecArray) => string): TracedText {
    let text = '';
    let sources: number[] | undefined;
    let from = 0;
    for (const match of this.text.matchAll(pattern)) {
      sources ??= [];
      const replaced = replacement(match);
      for (let at = from; at < match.index; at++) sources.push(this.sourceOf(at));
      for (let i = 0; i < replaced.length; i++) {
        sources.push(this.sourceOf(match.index + Math.min(i, match[0].length - 1)));
      }
      text += this.text.slice(from, match.index) + replaced;
      from = match.index + match[0].length;
    }
    // Most patterns match nothing.
    if (sources === undefined) return this;
    for (let at = from; at < this.text.length; at++) sources.push(this.sourceOf(at));
    return new TracedText(text + this.text.slice(from), sources);
  }
}
