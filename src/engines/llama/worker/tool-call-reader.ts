import { newId } from '../../../contract/core/id.ts';
import type { TextEvent } from '../../../contract/engines/text.ts';
import type { ToolCallSyntax } from '../shared/tool-call-syntax.ts';

/** Streaming parser for tool calls. The text must follow the grammar of calls. */
export class ToolCallReader {
  readonly #syntax: ToolCallSyntax;
  #index = -1;
  /** The element that is read next. */
  #state: 'opening' | 'name' | 'arguments' | 'between' = 'opening';
  #text = '';
  /** State of the arguments: open brackets, inside a string, after a backslash. */
  #depth = 0;
  #quoted = false;
  #escaped = false;

  constructor(syntax: ToolCallSyntax) {
    this.#syntax = syntax;
  }

  /** Number of calls that have started. */
  get calls(): number {
    return this.#index + 1;
  }

  /** Adds a piece of the output and returns the resulting events. */
  push(piece: string): TextEvent[] {
    this.#text += piece;
    const events: TextEvent[] = [];
    while (this.#step(events)) {
      // Each step consumes one element.
    }
    return events;
  }

  /** @returns whether another element may be read. */
  #step(events: TextEvent[]): boolean {
    switch (this.#state) {
      case 'opening':
        return this.#skip(this.#syntax.opens);
      case 'between':
        return this.#skip(this.#syntax.between);
      case 'name': {
        const end = this.#text.indexOf(this.#syntax.nameEnds);
        if (end < 0) return false;
        this.#index += 1;
        const name = this.#text.slice(0, end);
        events.push({ kind: 'tool_call', index: this.#index, id: newId('call_'), name });
        this.#text = this.#text.slice(end + this.#syntax.nameEnds.length);
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

  /** Skips the syntax before a name. */
  #skip(expected: string): boolean {
    if (!this.#text.startsWith(expected)) return false;
    this.#text = this.#text.slice(expected.length);
    this.#state = 'name';
    return true;
  }

  /** Number of characters that belong to the arguments, which are one JSON object. */
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
