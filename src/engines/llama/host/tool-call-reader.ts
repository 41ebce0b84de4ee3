import { newId } from '../../../contract/core/id.ts';
import type { TextEvent } from '../../../contract/engines/text.ts';
import type { CallWords } from '../shared/tool-call-syntax.ts';

/** Reads calls from a text that keeps to the grammar of calls and comes in pieces. */
export class CallReader {
  readonly #words: CallWords;
  #index = -1;
  /** What is read next. */
  #state: 'opening' | 'name' | 'arguments' | 'between' = 'opening';
  #text = '';
  /** Of the arguments: open brackets, whether a string is open, whether its next character is escaped. */
  #depth = 0;
  #quoted = false;
  #escaped = false;

  constructor(words: CallWords) {
    this.#words = words;
  }

  /** Calls that have begun. */
  get calls(): number {
    return this.#index + 1;
  }

  /** Takes a piece of the answer and gives what follows from it. */
  push(piece: string): TextEvent[] {
    this.#text += piece;
    const events: TextEvent[] = [];
    while (this.#step(events)) {
      // Each step takes what it can.
    }
    return events;
  }

  /** @returns whether more can be read now. */
  #step(events: TextEvent[]): boolean {
    switch (this.#state) {
      case 'opening':
        return this.#skip(this.#words.opens);
      case 'between':
        return this.#skip(this.#words.between);
      case 'name': {
        const end = this.#text.indexOf(this.#words.nameEnds);
        if (end < 0) return false;
        this.#index += 1;
        const name = this.#text.slice(0, end);
        events.push({ kind: 'tool_call', index: this.#index, id: newId('toolCall'), name });
        this.#text = this.#text.slice(end + this.#words.nameEnds.length);
        this.#state = 'arguments';
        return true;
      }
      case 'arguments': {
        const length = this.#argumentsLength();
        const text = this.#text.slice(0, length);
        if (text !== '') events.push({ kind: 'tool_arguments', index: this.#index, text });
        this.#text = this.#text.slice(length);
        if (this.#depth > 0 || text === '') return false;
        this.#state = 'between';
        return true;
      }
    }
  }

  /** Skips words before a name. */
  #skip(words: string): boolean {
    if (!this.#text.startsWith(words)) return false;
    this.#text = this.#text.slice(words.length);
    this.#state = 'name';
    return true;
  }

  /** How much of the text belongs to the arguments, which are one object. */
  #argumentsLength(): number {
    for (let at = 0; at < this.#text.length; at += 1) {
      const character = this.#text[at];
      if (this.#escaped) this.#escaped = false;
      else if (this.#quoted) {
        if (character === '\\') this.#escaped = true;
        else if (character === '"') this.#quoted = false;
      } else if (character === '"') this.#quoted = true;
      else if (character === '{' || character === '[') this.#depth += 1;
      else if (character === '}' || character === ']') {
        this.#depth -= 1;
        if (this.#depth === 0) return at + 1;
      }
    }
    return this.#text.length;
  }
}
