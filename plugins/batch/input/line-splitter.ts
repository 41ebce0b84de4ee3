/** Splits the bytes of an input file into lines. The bytes may arrive in chunks of any size. */

const NEWLINE = 10;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;
const SPACE = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;

/** A non-blank line. */
export interface InputLine {
  /** 1-based; blank lines are counted. */
  readonly number: number;
  /** Offset of the line in the file, in bytes. */
  readonly startBytes: number;
  /** Offset of the next line, in bytes. */
  readonly endBytes: number;
  /**
   * The line without its terminator, possibly with surrounding whitespace; undefined if it is too long. Valid until the
   * next line is read.
   */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
}

/** A position between two lines. */
export interface LinePosition {
  readonly offsetBytes: number;
  /** Number of the line that starts at the offset. */
  readonly line: number;
}

export const FIRST_LINE: LinePosition = { offsetBytes: 0, line: 1 };

/** Buffers at most one line. A byte order mark at the start of the file is removed. */
export class LineSplitter {
  readonly #maxBytes: number;
  /** Chunks of the incomplete line. */
  #buffered: Uint8Array<ArrayBuffer>[] = [];
  #bufferedBytes = 0;
  #start: number;
  #number: number;

  /**
   * @param maxBytes maximum length of a line. A longer line is yielded without its bytes.
   * @param from position of the first bytes in the file.
   */
  constructor(maxBytes: number, from: LinePosition = FIRST_LINE) {
    this.#maxBytes = maxBytes;
    this.#start = from.offsetBytes;
    this.#number = from.line;
  }

  /** Yields the lines that end in these bytes. The result must be consumed before the next call. */
  *split(bytes: Uint8Array<ArrayBuffer>): Generator<InputLine, void, undefined> {
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      // Fast path: a file may consist of blank lines only.
      if (this.#bufferedBytes === 0 && end - from <= this.#maxBytes && isBlank(bytes, from, end)) {
        this.#start += end - from + 1;
        this.#number += 1;
        from = end + 1;
        continue;
      }
      const line = this.#line(bytes.subarray(from, end), 1);
      from = end + 1;
      if (line !== undefined) yield line;
    }
    if (from < bytes.length) this.#buffer(bytes.subarray(from));
  }

  /** Yields the last line if the file does not end with a newline. */
  *flush(): Generator<InputLine, void, undefined> {
    if (this.#bufferedBytes === 0) return;
    const line = this.#line(new Uint8Array(), 0);
    if (line !== undefined) yield line;
  }

  #buffer(piece: Uint8Array<ArrayBuffer>): void {
    this.#bufferedBytes += piece.length;
    if (this.#bufferedBytes > this.#maxBytes) this.#buffered = [];
    // Copied, because the caller may reuse the memory.
    else this.#buffered.push(piece.slice());
  }

  #line(last: Uint8Array<ArrayBuffer>, endingBytes: number): InputLine | undefined {
    const lengthBytes = this.#bufferedBytes + last.length;
    const startBytes = this.#start;
    const number = this.#number;
    const whole = lengthBytes > this.#maxBytes ? undefined : this.#whole(last);
    this.#buffered = [];
    this.#bufferedBytes = 0;
    this.#start += lengthBytes + endingBytes;
    this.#number += 1;
    if (whole === undefined) return { number, startBytes, endBytes: this.#start, bytes: undefined };
    const bytes = startBytes === 0 ? withoutMark(whole) : whole;
    return isBlank(bytes, 0, bytes.length) ? undefined : { number, startBytes, endBytes: this.#start, bytes };
  }

  #whole(last: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    if (this.#buffered.length === 0) return last;
    return Buffer.concat([...this.#buffered, last]);
  }
}

function withoutMark(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const isMarked = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte);
  return isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

/** Whether the range contains only JSON whitespace. */
function isBlank(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== TAB && byte !== RETURN) return false;
  }
  return true;
}
