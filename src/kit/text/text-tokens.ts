/** Assigns the tokens of a text to the parts in which the text is emitted. */

import type { TextToken } from '../../contract/engines/engine.ts';

interface QueuedToken extends TextToken {
  /** End of the token in the text, in UTF-16 units. Within a character: the start of that character. */
  readonly end: number;
}

const UTF8 = new TextEncoder();

/**
 * Receives the tokens of a text before or while the text is emitted in parts. The text is that of the tokens without the white
 * space at both ends, which is also removed from the tokens: their bytes together are exactly the text.
 */
export class TextTokens {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #queue: QueuedToken[] = [];
  /** Length of the text of all tokens, without the leading white space. */
  #length = 0;
  /** Length of the text that was taken. */
  #taken = 0;
  /** Undefined after the first character that is not white space. */
  #leadingSpace: string | undefined = '';
  #trailingSpace = '';

  /** Appends a token. */
  push({ bytes, logProbability }: TextToken): void {
    const text = this.#decoder.decode(Uint8Array.from(bytes), { stream: true });
    this.#queue.push({ bytes, logProbability, end: this.#length + text.length });
    this.#length += text.length;
    const end = text.trimEnd();
    this.#trailingSpace = end === '' ? this.#trailingSpace + text : text.slice(end.length);
    if (this.#leadingSpace === undefined || text === '') return;
    const start = text.trimStart();
    const space = this.#leadingSpace + text.slice(0, text.length - start.length);
    this.#leadingSpace = start === '' ? space : undefined;
    if (start !== '') this.#dropLeadingSpace(space);
  }

  /** Returns the tokens that end in the next part of the text. */
  take(part: string): TextToken[] {
    this.#taken += part.length;
    const next = this.#queue.findIndex(({ end }) => end > this.#taken);
    let count = next < 0 ? this.#queue.length : next;
    // The last character is not complete.
    while (count > 0 && isContinuation(this.#queue[count]?.bytes[0])) count--;
    return this.#remove(count);
  }

  /** Returns the tokens of the last part of the text. */
  flush(): TextToken[] {
    const incomplete = this.#decoder.decode();
    const tokens = this.#remove(this.#queue.length);
    if (incomplete !== '') return tokens;
    return this.#leadingSpace === undefined
      ? withoutLastBytes(tokens, UTF8.encode(this.#trailingSpace).length)
      : [];
  }

  #dropLeadingSpace(space: string): void {
    let bytes = UTF8.encode(space).length;
    this.#length -= space.length;
    this.#queue = this.#queue.flatMap((token) => {
      const kept = token.bytes.slice(bytes);
      bytes -= token.bytes.length - kept.length;
      return kept.length === 0 ? [] : [{ ...token, bytes: kept, end: Math.max(0, token.end - space.length) }];
    });
  }

  #remove(count: number): TextToken[] {
    return this.#queue.splice(0, count).map(({ bytes, logProbability }) => ({ bytes, logProbability }));
  }
}

function withoutLastBytes(tokens: TextToken[], bytes: number): TextToken[] {
  const last = tokens.at(-1);
  if (last === undefined || bytes === 0) return tokens;
  const kept = last.bytes.slice(0, Math.max(0, last.bytes.length - bytes));
  const before = tokens.slice(0, -1);
  if (kept.length > 0) return [...before, { ...last, bytes: kept }];
  return withoutLastBytes(before, bytes - last.bytes.length);
}

/** Whether a byte continues a character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}
