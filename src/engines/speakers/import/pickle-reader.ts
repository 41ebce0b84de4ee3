/**
 * Reader of Python pickles, protocol 2 (docs.python.org, `pickletools`). A pickle is a program for a stack machine that can
 * call any function in Python. This reader supports only the instructions of plain data and calls only the functions that
 * its caller provides by name.
 */

/** Globals and external objects that a pickle may refer to. */
export interface PickleGlobals {
  /** Functions by the name of their global, such as `collections OrderedDict`. Other globals are rejected. */
  readonly callables: Readonly<Record<string, (args: readonly unknown[]) => unknown>>;
  /** Names of globals that may be referenced and not called. Each is read as its name. */
  readonly names: readonly string[];
  /** Resolves a persistent id, which identifies an object outside of the pickle. */
  persistentLoad(id: unknown): unknown;
}

const MAX_INSTRUCTIONS = 1_000_000;

/** Marks the start of a sequence of values on the stack. */
const MARK = Symbol('mark');

/** Reads pickles and binary values from the bytes of a file. */
export class PickleReader {
  /** Offset of the next byte. */
  offset = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Reads `count` bytes. @throws Error when the file ends before them. */
  bytes(count: number): Uint8Array {
    const end = this.offset + count;
    if (!(count >= 0 && end <= this.#bytes.length))
      throw new Error('The file is truncated: it is too short.');
    const bytes = this.#bytes.subarray(this.offset, end);
    this.offset = end;
    return bytes;
  }

  /** Reads a little-endian int64. */
  int64(): number {
    const { offset } = this;
    this.bytes(8);
    return Number(this.#view.getBigInt64(offset, true));
  }

  /**
   * Reads one pickle. Returns numbers (LONG1 as bigint), strings, booleans, null, lists and tuples as arrays, and
   * dictionaries as maps.
   * @throws Error for an instruction or a global that is not allowed, and for an invalid pickle.
   */
  pickle(globals: PickleGlobals): unknown {
    const stack: unknown[] = [];
    const memo = new Map<number, unknown>();
    for (let steps = 0; steps < MAX_INSTRUCTIONS; steps++) {
      const code = this.#uint(1);
      if (code === STOP) return pop(stack);
      this.#execute(code, stack, memo, globals);
    }
    throw new Error(`The pickle has more than ${MAX_INSTRUCTIONS} instructions.`);
  }

  #execute(code: number, stack: unknown[], memo: Map<number, unknown>, globals: PickleGlobals): void {
    switch (String.fromCharCode(code)) {
      case '\x80':
        this.#uint(1);
        return;
      case 'N':
        stack.push(null);
        return;
      case '\x88':
        stack.push(true);
        return;
      case '\x89':
        stack.push(false);
        return;
      case 'K':
        stack.push(this.#uint(1));
        return;
      case 'M':
        stack.push(this.#uint(2));
        return;
      case 'J':
        stack.push(this.#uint(4) | 0);
        return;
      case '\x8a':
        stack.push(this.#long());
        return;
      case 'G': {
        const { offset } = this;
        this.bytes(8);
        stack.push(this.#view.getFloat64(offset));
        return;
      }
      case 'X':
        stack.push(new TextDecoder().decode(this.bytes(this.#uint(4))));
        return;
      case '(':
        stack.push(MARK);
        return;
      case ')':
      case ']':
        stack.push([]);
        return;
      case '}':
        stack.push(new Map());
        return;
      case 't':
        stack.push(sinceMark(stack));
        return;
      case '\x85':
        stack.push([pop(stack)]);
        return;
      case '\x86': {
        const second = pop(stack);
        stack.push([pop(stack), second]);
        return;
      }
      case 'a': {
        const value = pop(stack);
        top(stack, isList).push(value);
        return;
      }
      case 'e': {
        const values = sinceMark(stack);
        const list = top(stack, isList);
        for (const value of values) list.push(value);
        return;
      }
      case 's': {
        const value = pop(stack);
        const key = pop(stack);
        top(stack, isMap).set(key, value);
        return;
      }
      case 'u': {
        const entries = sinceMark(stack);
        const map = top(stack, isMap);
        for (let i = 0; i < entries.length; i += 2) map.set(entries[i], entries[i + 1]);
        return;
      }
      case 'q':
        memo.set(this.#uint(1), stack.at(-1));
        return;
      case 'r':
        memo.set(this.#uint(4), stack.at(-1));
        return;
      case 'h':
        stack.push(memo.get(this.#uint(1)));
        return;
      case 'j':
        stack.push(memo.get(this.#uint(4)));
        return;
      case 'c': {
        const name = `${this.#line()} ${this.#line()}`;
        if (!Object.hasOwn(globals.callables, name) && !globals.names.includes(name)) {
          throw new Error(`The pickle refers to '${name}', which is not allowed.`);
        }
        stack.push(name);
        return;
      }
      case 'R': {
        const args = pop(stack);
        const name = pop(stack);
        const call =
          typeof name === 'string' && Object.hasOwn(globals.callables, name)
            ? globals.callables[name]
            : undefined;
        if (!call || !isList(args)) throw new Error('The pickle calls a value that cannot be called.');
        stack.push(call(args));
        return;
      }
      case 'Q':
        stack.push(globals.persistentLoad(pop(stack)));
        return;
      // BUILD sets attributes of the object below, which are not needed.
      case 'b':
        pop(stack);
        return;
      default:
        throw new Error(`The pickle has instruction ${code}, which is not allowed.`);
    }
  }

  #uint(length: 1 | 2 | 4): number {
    const { offset } = this;
    this.bytes(length);
    if (length === 1) return this.#view.getUint8(offset);
    return length === 2 ? this.#view.getUint16(offset, true) : this.#view.getUint32(offset, true);
  }

  /** Reads a LONG1: a length byte and a little-endian integer in two's complement. */
  #long(): bigint {
    const bytes = this.bytes(this.#uint(1));
    const value = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    return BigInt.asIntN(8 * bytes.length, value);
  }

  #line(): string {
    const end = this.#bytes.indexOf(LINE_FEED, this.offset);
    if (end < 0) throw new Error('The file is truncated: it is too short.');
    const text = new TextDecoder().decode(this.bytes(end - this.offset));
    this.bytes(1);
    return text;
  }
}

const STOP = '.'.charCodeAt(0);
const LINE_FEED = 10;

const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isMap = (value: unknown): value is Map<unknown, unknown> => value instanceof Map;

function pop(stack: unknown[]): unknown {
  if (stack.length === 0) throw new Error('The pickle pops more values than it has.');
  return stack.pop();
}

/** Returns the value on top of the stack without removing it. */
function top<Kind>(stack: unknown[], is: (value: unknown) => value is Kind): Kind {
  const value = stack.at(-1);
  if (!is(value))
    throw new Error('The pickle adds values to an object that is not a container of this kind.');
  return value;
}

/** Removes the last mark and the values above it, and returns the values. */
function sinceMark(stack: unknown[]): unknown[] {
  const mark = stack.lastIndexOf(MARK);
  if (mark < 0) throw new Error('The pickle pops more values than it has.');
  const values = stack.splice(mark);
  values.shift();
  return values;
}
