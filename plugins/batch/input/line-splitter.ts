/** Bytes of an input file to its lines, in whatever pieces the bytes come. */

const NEWLINE = 10;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;
const SPACE = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;

/** A line that is not blank. */
export interface InputLine {
  /** From 1; blank lines count. */
  readonly number: number;
  /** Where it begins in the file. */
  readonly startBytes: number;
  /** Where the next one begins. */
  readonly endBytes: number;
  /** Without what ends it, perhaps with white space around it; undefined of one that is too long. Valid until the next line. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
}

/** A place between two lines. */
export interface LinePlace {
  readonly offsetBytes: number;
  /** Number of the line that begins there. */
  readonly line: number;
}

export const FIRST_LINE: LinePlace = { offsetBytes: 0, line: 1 };

/** Holds at most one line. A mark of the byte order at the beginning of the file belongs to no line. */
export class LineCutter {
  readonly #maxBytes: number;
  /** Pieces of the line that has begun. */
  #held: Uint8Array<ArrayBuffer>[] = [];
  #heldBytes = 0;
  #start: number;
  #number: number;

  /**
   * @param maxBytes a longer line is told without its bytes.
   * @param from where the first bytes lie.
   */
  constructor(maxBytes: number, from: LinePlace = FIRST_LINE) {
    this.#maxBytes = maxBytes;
    this.#start = from.offsetBytes;
    this.#number = from.line;
  }

  /** The lines that end in these bytes, which follow those before; to be consumed before others are cut. */
  *cut(bytes: Uint8Array<ArrayBuffer>): Generator<InputLine, void, undefined> {
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      // A file may be made of blank lines alone, so they cost next to nothing.
      if (this.#heldBytes === 0 && end - from <= this.#maxBytes && isBlank(bytes, from, end)) {
        this.#start += end - from + 1;
        this.#number += 1;
        from = end + 1;
        continue;
      }
      const line = this.#line(bytes.subarray(from, end), 1);
      from = end + 1;
      if (line !== undefined) yield line;
    }
    if (from < bytes.length) this.#hold(bytes.subarray(from));
  }

  /** The last line, when no newline ends it. */
  *end(): Generator<InputLine, void, undefined> {
    if (this.#heldBytes === 0) return;
    const line = this.#line(new Uint8Array(), 0);
    if (line !== undefined) yield line;
  }

  #hold(piece: Uint8Array<ArrayBuffer>): void {
    this.#heldBytes += piece.length;
    if (this.#heldBytes > this.#maxBytes) this.#held = [];
    // A copy, since the bytes may be read over.
    else this.#held.push(piece.slice());
  }

  #line(last: Uint8Array<ArrayBuffer>, endingBytes: number): InputLine | undefined {
    const lengthBytes = this.#heldBytes + last.length;
    const startBytes = this.#start;
    const number = this.#number;
    const whole = lengthBytes > this.#maxBytes ? undefined : this.#whole(last);
    this.#held = [];
    this.#heldBytes = 0;
    this.#start += lengthBytes + endingBytes;
    this.#number += 1;
    if (whole === undefined) return { number, startBytes, endBytes: this.#start, bytes: undefined };
    const bytes = startBytes === 0 ? withoutMark(whole) : whole;
    return isBlank(bytes, 0, bytes.length) ? undefined : { number, startBytes, endBytes: this.#start, bytes };
  }

  #whole(last: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    if (this.#held.length === 0) return last;
    return Buffer.concat([...this.#held, last]);
  }
}

function withoutMark(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const isMarked = BYTE_ORDER_MARK.every((byte, place) => bytes[place] === byte);
  return isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

/** Whether there is nothing but what JSON calls white space. */
function isBlank(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== TAB && byte !== RETURN) return false;
  }
  return true;
}
