/** Takes the machine out of JavaScript's reach, in a process that has nothing left to do but run Python. */

/** What Pyodide needs of the global object once it has started, none of which reaches beyond the process. */
const KEPT: ReadonlySet<PropertyKey> = new Set([
  ...['Infinity', 'NaN', 'undefined', 'globalThis', 'isNaN', 'isFinite', 'parseFloat', 'parseInt'],
  ...['Object', 'Array', 'String', 'Number', 'BigInt', 'Boolean', 'Symbol', 'RegExp', 'Date', 'Math', 'JSON'],
  ...['Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Promise', 'Proxy', 'Reflect'],
  ...['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError'],
  ...['URIError', 'ArrayBuffer', 'SharedArrayBuffer', 'Atomics', 'DataView', 'Uint8Array', 'Int8Array'],
  ...['Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float16Array'],
  ...['Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array', 'Iterator', 'TextDecoder'],
  ...['TextEncoder', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate'],
  ...['clearImmediate', 'queueMicrotask', 'performance', 'WebAssembly'],
]);

/**
 * Empties the global object but for the language itself, and makes text stay text: neither `eval` nor a function's
 * constructor is left to turn it into a program.
 */
export function confineJavaScript(): void {
  const { prototype } = Function;
  const functions = [function* () {}, async () => {}, async function* () {}].map(Object.getPrototypeOf);
  for (const kind of [prototype, ...functions]) {
    Object.defineProperty(kind, 'constructor', { value: undefined, writable: false, configurable: false });
  }
  for (const key of Reflect.ownKeys(globalThis)) {
    // `Bun` cannot be removed. Only a program in JavaScript could name it.
    if (!KEPT.has(key)) Reflect.deleteProperty(globalThis, key);
  }
  Object.assign(globalThis, { Function: bareFunction(prototype), console: SILENCE });
}

/** What `instanceof Function` looks at, and nothing to call. */
function bareFunction(prototype: object): object {
  const bare = function refuse() {
    throw new TypeError('functions are not made from text');
  };
  Object.defineProperty(bare, 'prototype', { value: prototype });
  return bare;
}

const SILENCE = Object.freeze({ log() {}, info() {}, debug() {}, warn() {}, error() {}, trace() {} });

/**
 * Keeps WebAssembly from growing a memory beyond a size: Python then raises MemoryError. To be called before Pyodide
 * makes its memory.
 */
export function limitWebAssemblyMemory(maxBytes: number): void {
  const { Memory } = WebAssembly;
  const grow = Memory.prototype.grow;
  Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number): number {
    if (this.buffer.byteLength + pages * PAGE_BYTES > maxBytes) throw new RangeError('memory limit');
    return Reflect.apply(grow, this, [pages]);
  };
}

const PAGE_BYTES = 65_536;
