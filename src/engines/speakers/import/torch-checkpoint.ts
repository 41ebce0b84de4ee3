/**
 * Tensors of a checkpoint that PyTorch wrote before its files were zip archives (torch/serialization.py, `_legacy_save`).
 * The file is five pickles: a magic number, a version, sizes of C types, the object, the keys of its storages in order; then
 * of each storage i64 count and its elements, all little-endian. Only tensors of float32 are known.
 */

import { PickleReader, type PickleWorld } from './pickle-reader.ts';

const MAGIC = 0x1950a86a20f9469cfc6cn;
const PROTOCOL = 1001;

/** What a file's object holds in a tensor's place: a view of a storage. */
class TensorView {
  constructor(
    readonly storage: string,
    readonly offset: number,
    readonly dims: readonly number[],
  ) {}
}

/** A run of elements, by key. */
class StorageKey {
  constructor(readonly key: string) {}
}

const WORLD: PickleWorld = {
  calls: {
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
  outside(id) {
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
  /** Where the elements of each storage lie in the file. */
  readonly #storages = new Map<string, { readonly begin: number; readonly count: number }>();

  /**
   * @param bytes the whole file; tensors are read from it when they are asked for.
   * @param within key of the dictionary of tensors in the file's object, such as `model_state`.
   * @throws Error that says what is wrong, for anything that is no such checkpoint.
   */
  constructor(bytes: Uint8Array, within: string) {
    this.#bytes = bytes;
    const reader = new PickleReader(bytes);
    if (reader.pickle(WORLD) !== MAGIC) throw new Error('This is no PyTorch checkpoint of the old format.');
    if (reader.pickle(WORLD) !== PROTOCOL)
      throw new Error('This PyTorch checkpoint is of an unknown version.');
    // Sizes of C types, of no account: float32 has one everywhere.
    reader.pickle(WORLD);
    const object = reader.pickle(WORLD);
    const tensors = object instanceof Map ? object.get(within) : undefined;
    if (!(tensors instanceof Map)) throw new Error(`The checkpoint has no dictionary '${within}'.`);
    this.#tensors = tensors;
    const keys = reader.pickle(WORLD);
    if (!Array.isArray(keys)) throw new Error('The checkpoint does not list its storages.');
    for (const key of keys) {
      const count = reader.int64();
      this.#storages.set(key, { begin: reader.at, count });
      reader.bytes(count * Float32Array.BYTES_PER_ELEMENT);
    }
  }

  /**
   * Elements of a tensor, row-major.
   * @throws Error when there is no tensor of this name and these sizes.
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
    const from = storage.begin + tensor.offset * Float32Array.BYTES_PER_ELEMENT;
    // Copied, because elements in the file are not aligned. Not slice(): a Node Buffer's is a view.
    const own = new Uint8Array(this.#bytes.subarray(from, from + count * Float32Array.BYTES_PER_ELEMENT));
    return new Float32Array(own.buffer);
  }
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((size) => Number.isInteger(size) && size >= 0);
}

function isRowMajor(dims: readonly number[], strides: readonly number[]): boolean {
  return dims.every((_, axis) => strides[axis] === dims.slice(axis + 1).reduce((a, b) => a * b, 1));
}
