/**
 * Reader of PyTorch checkpoints in the legacy format, which is not a zip archive (torch/serialization.py, `_legacy_save`).
 * The file consists of five pickles: a magic number, a version, sizes of C types, the object, and the keys of its storages
 * in order; then, for each storage, an i64 count and the elements, all little-endian. Only float32 tensors are supported.
 */

import { type PickleGlobals, PickleReader } from './pickle-reader.ts';

const MAGIC = 0x1950a86a20f9469cfc6cn;
const PROTOCOL = 1001;

/** A tensor in the object of a file: a view of a storage. */
class TensorView {
  constructor(
    readonly storage: string,
    readonly offset: number,
    readonly dims: readonly number[],
  ) {}
}

/** Reference to a storage, a sequence of elements. */
class StorageKey {
  constructor(readonly key: string) {}
}

const GLOBALS: PickleGlobals = {
  callables: {
    'collections OrderedDict': () => new Map(),
    'torch._utils _rebuild_tensor_v2': ([storage, offset, dims, strides]) => {
      if (
        !(storage instanceof StorageKey && typeof offset === 'number' && isSizes(dims) && isSizes(strides))
      ) {
        throw new Error('The checkpoint has a tensor of an unknown layout.');
      }
      if (!isRowMajor(dims, strides)) throw new Error('The checkpoint has a tensor that is not row-major.');
      return new TensorView(storage.key, offset, dims);
    },
  },
  names: ['torch FloatStorage'],
  persistentLoad(id) {
    const [kind, type, key] = Array.isArray(id) ? id : [];
    if (kind !== 'storage' || type !== 'torch FloatStorage' || typeof key !== 'string') {
      throw new Error('The checkpoint has a storage of an unknown kind.');
    }
    return new StorageKey(key);
  },
};

export class TorchCheckpoint {
  readonly #bytes: Uint8Array;
  readonly #tensors: ReadonlyMap<unknown, unknown>;
  /** Offset (in bytes) and count of the elements of each storage in the file. */
  readonly #storages = new Map<string, { readonly offset: number; readonly count: number }>();

  /**
   * @param bytes the whole file. Tensors are read lazily, so it must not be modified.
   * @param within key of the dictionary of tensors in the object of the file, such as `model_state`.
   * @throws Error that describes the problem when the file is not such a checkpoint.
   */
  constructor(bytes: Uint8Array, within: string) {
    this.#bytes = bytes;
    const reader = new PickleReader(bytes);
    if (reader.pickle(GLOBALS) !== MAGIC)
      throw new Error('The file is not a PyTorch checkpoint in the legacy format.');
    if (reader.pickle(GLOBALS) !== PROTOCOL)
      throw new Error('The PyTorch checkpoint has an unknown version.');
    // Sizes of C types, not needed: float32 has the same size on every platform.
    reader.pickle(GLOBALS);
    const object = reader.pickle(GLOBALS);
    const tensors = object instanceof Map ? object.get(within) : undefined;
    if (!(tensors instanceof Map)) throw new Error(`The checkpoint has no dictionary '${within}'.`);
    this.#tensors = tensors;
    const keys = reader.pickle(GLOBALS);
    if (!Array.isArray(keys)) throw new Error('The checkpoint does not list its storages.');
    for (const key of keys) {
      const count = reader.int64();
      this.#storages.set(key, { offset: reader.offset, count });
      reader.bytes(count * Float32Array.BYTES_PER_ELEMENT);
    }
  }

  /**
   * Returns a copy of the elements of a tensor, row-major.
   * @throws Error when the checkpoint lacks a tensor with this name and these dimensions.
   */
  tensor(name: string, dims: readonly number[]): Float32Array {
    const tensor = this.#tensors.get(name);
    if (!(tensor instanceof TensorView) || tensor.dims.join() !== dims.join()) {
      throw new Error(`The checkpoint has no tensor '${name}' of [${dims.join(', ')}].`);
    }
    const storage = this.#storages.get(tensor.storage);
    const count = dims.reduce((product, size) => product * size, 1);
    if (!storage || tensor.offset < 0 || tensor.offset + count > storage.count) {
      throw new Error(`The checkpoint lacks elements of tensor '${name}'.`);
    }
    const start = storage.offset + tensor.offset * Float32Array.BYTES_PER_ELEMENT;
    // Copied, because elements in the file are not aligned. Not with slice(), which returns a view for a Node Buffer.
    const copy = new Uint8Array(this.#bytes.subarray(start, start + count * Float32Array.BYTES_PER_ELEMENT));
    return new Float32Array(copy.buffer);
  }
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((size) => Number.isInteger(size) && size >= 0);
}

function isRowMajor(dims: readonly number[], strides: readonly number[]): boolean {
  return dims.every((_, axis) => strides[axis] === dims.slice(axis + 1).reduce((a, b) => a * b, 1));
}
