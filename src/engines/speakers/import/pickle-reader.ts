/**
 * Reading Python's pickles, protocol 2 (docs.python.org, `pickletools`). A pickle is a program for a small stack machine, and in
 * Python it may call anything. Here the machine knows only the instructions that plain data needs, and calls nothing but
 * what its reader offers by name.
 */

/** What a pickle may refer to beside plain data. */
export interface PickleWorld {
  /** What a global names, such as `collections OrderedDict`, makes of arguments. Absent: it may not be named. */
  readonly calls: Readonly<Record<string, (args: readonly unknown[]) => unknown>>;
  /** Names of globals that are only told from others; each is read as its name. */
  readonly names: readonly string[];
  /** What the stored id of something outside the pickle stands for. */
  outside(id: unknown): unknown;
}

const LIMIT = 1_000_000;

/** Stands on the stack for the beginning of a run of values. */
const MARK = Symbol('mark');

/** The bytes of a file that holds pickles and other things, one after the other. */
export class PickleReader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** @throws Error when the file ends before them. */
  bytes(count: number): Uint8Array {
    const end = this.at + count;
    if (!(count >= 0 && end <= this.#bytes.length)) throw new Error('The file breaks off: it is too short.');
    const bytes = this.#bytes.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  /** A little-endian whole number. */
  int64(): number {
    const { at } = this;
    this.bytes(8);
    return Number(this.#view.getBigInt64(at, true));
  }

  /**
   * Reads one pickle: numbers (long ones as bigint), text, booleans, null, lists and tuples as arrays, dictionaries as maps.
   * @throws Error for an instruction or a global that is not allowed, and for a pickle that is broken.
   */
  pickle(world: PickleWorld): unknown {
    const stack: unknown[] = [];
    const memo = new Map<number, unknown>();
    for (let steps = 0; steps < LIMIT; steps++) {
      const code = this.#uint(1);
      if (code === STOP) return pop(stack);
      this.#step(code, stack, memo, world);
    }
    throw new Error(`The pickle has more than ${LIMIT} instructions.`);
  }

  #step(code: number, stack: unknown[], memo: Map<number, unknown>, world: PickleWorld): void {
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
        const { at } = this;
        this.bytes(8);
        stack.push(this.#view.getFloat64(at));
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
        if (!Object.hasOwn(world.calls, name) && !world.names.includes(name)) {
          throw new Error(`The pickle names '${name}', which is not allowed.`);
        }
        stack.push(name);
        return;
      }
      case 'R': {
        const args = pop(stack);
        const name = pop(stack);
        const call =
          typeof name === 'string' && Object.hasOwn(world.calls, name) ? world.calls[name] : undefined;
        if (!call || !isList(args)) throw new Error('The pickle calls what cannot be called.');
        stack.push(call(args));
        return;
      }
      case 'Q':
        stack.push(world.outside(pop(stack)));
        return;
      // Attributes of the object below, which has none here.
      case 'b':
        pop(stack);
        return;
      default:
        throw new Error(`The pickle has instruction ${code}, which is not allowed.`);
    }
  }

  #uint(length: 1 | 2 | 4): number {
    const { at } = this;
    this.bytes(length);
    if (length === 1) return this.#view.getUint8(at);
    return length === 2 ? this.#view.getUint16(at, true) : this.#view.getUint32(at, true);
  }

  /** Of two's complement, little-endian. */
  #long(): bigint {
    const bytes = this.bytes(this.#uint(1));
    const value = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    return BigInt.asIntN(8 * bytes.length, value);
  }

  #line(): string {
    const end = this.#bytes.indexOf(LINE_FEED, this.at);
    if (end < 0) throw new Error('The file breaks off: it is too short.');
    const text = new TextDecoder().decode(this.bytes(end - this.at));
    this.bytes(1);
    return text;
  }
}

const STOP = '.'.charCodeAt(0);
const LINE_FEED = 10;

const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isMap = (value: unknown): value is Map<unknown, unknown> => value instanceof Map;

function pop(stack: unknown[]): unknown {
  if (stack.length === 0) throw new Error('The pickle takes more values than it has.');
  return stack.pop();
}

/** The value on top, which stays there. */
function top<Kind>(stack: unknown[], is: (value: unknown) => value is Kind): Kind {
  const value = stack.at(-1);
  if (!is(value)) throw new Error('The pickle puts values where none can be put.');
  return value;
}

/** Takes the values above the last mark, and the mark. */
function sinceMark(stack: unknown[]): unknown[] {
  const mark = stack.lastIndexOf(MARK);
  if (mark < 0) throw new Error('The pickle takes more values than it has.');
  const values = stack.splice(mark);
  values.shift();
  return values;
}
