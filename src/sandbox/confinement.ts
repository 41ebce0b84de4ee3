/** Removes access to the host from JavaScript, in a process that only runs Python from then on. */

/** Globals that Pyodide needs after its start. None of them gives access to the host. */
const ALLOWED_GLOBALS: ReadonlySet<PropertyKey> = new Set([
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
 * Removes all other properties of the global object, and every way to evaluate text as code (`eval` and the constructors of
 * functions).
 */
export function confineJavaScript(): void {
  const { prototype } = Function;
  const functions = [function* () {}, async () => {}, async function* () {}].map(Object.getPrototypeOf);
  for (const kind of [prototype, ...functions]) {
    Object.defineProperty(kind, 'constructor', { value: undefined, writable: false, configurable: false });
  }
  for (const key of Reflect.ownKeys(globalThis)) {
    // `Bun` cannot be deleted, but only JavaScript code could refer to it.
    if (!ALLOWED_GLOBALS.has(key)) Reflect.deleteProperty(globalThis, key);
  }
  Object.assign(globalThis, { Function: inertFunction(prototype), console: SILENCE });
}

/** A replacement for `Function` that works with `instanceof` but cannot create functions. */
function inertFunction(prototype: object): object {
  const inert = function refuse() {
    throw new TypeError('functions cannot be created from text');
  };
  Object.defineProperty(inert, 'prototype', { value: prototype });
  return inert;
}

const SILENCE = Object.freeze({ log() {}, info() {}, debug() {}, warn() {}, error() {}, trace() {} });

/**
 * Limits the size of WebAssembly memory; at the limit Python raises MemoryError. Must be called before Pyodide creates its
 * memory.
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
