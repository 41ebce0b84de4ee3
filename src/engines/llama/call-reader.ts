import { newId } from '../../contract/id.ts';
import type { TextEvent } from '../../contract/text.ts';
import { CALL_CLOSES, CALL_OPENS, NAME_ENDS } from './call-text.ts';

/** Reads calls from a text that keeps to the grammar of calls and comes in pieces. */
export class CallReader {
  #index = -1;
  /** What is read next; between two of them the text is waited for. */
  #state: 'opening' | 'name' | 'arguments' | 'closing' = 'opening';
  #text = '';
  /** Of the arguments: open brackets, whether a string is open, whether its next character is escaped. */
  #depth = 0;
  #quoted = false;
  #escaped = false;

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
        return this.#skip(CALL_OPENS, 'name');
      case 'name': {
        const end = this.#text.indexOf(NAME_ENDS);
        if (end < 0) return false;
        this.#index += 1;
        const name = this.#text.slice(0, end);
        events.push({ kind: 'tool_call', index: this.#index, id: newId('toolCall'), name });
        this.#text = this.#text.slice(end + NAME_ENDS.length);
        this.#state = 'arguments';
        return true;
      }
      case 'arguments': {
        const length = this.#argumentsLength();
        const text = this.#text.slice(0, length);
        if (text !== '') events.push({ kind: 'tool_arguments', index: this.#index, text });
        this.#text = this.#text.slice(length);
        if (this.#depth > 0 || text === '') return false;
        this.#state = 'closing';
        return true;
      }
      case 'closing':
        return this.#skip(CALL_CLOSES, 'opening');
    }
  }

  #skip(mark: string, next: 'name' | 'opening'): boolean {
    const at = this.#text.indexOf(mark);
    if (at < 0) return false;
    this.#text = this.#text.slice(at + mark.length);
    this.#state = next;
    return true;
  }

  /** How much of the text belongs to the arguments, which are one object. */
  #argumentsLength(): number {
    for (const [at, character] of [...this.#text.matchAll(/["\\{}[\]]|[^"\\{}[\]]+/g)].map(
      (match) => [match.index, match[0]] as const,
    )) {
      if (this.#escaped) {
        // The first character after a backslash means itself; the rest of its run is plain.
        this.#escaped = false;
        if (character.length === 1) continue;
      }
      if (this.#quoted) {
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
