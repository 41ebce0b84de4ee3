/**
 * Reader of CTranslate2 models (`model.bin`), versions 4 to 6. Layout, little-endian (CTranslate2,
 * python/ctranslate2/specs/model_spec.py, `_serialize`): u32 version, spec name, u32 revision, u32 count; for each variable
 * its name, u8 rank, u32 sizes, u8 element type, u32 number of bytes, data; u32 count of aliases, each an alias and the name
 * of its variable. Names are u16 length, text, NUL.
 */

/** Element types in the numbering of CTranslate2. */
const ELEMENT_TYPES = ['float32', 'int8', 'int16', 'int32', 'float16', 'bfloat16'] as const;
type ElementType = (typeof ELEMENT_TYPES)[number];
const ELEMENT_BYTES: Readonly<Record<ElementType, number>> = {
  float32: 4,
  int8: 1,
  int16: 2,
  int32: 4,
  float16: 2,
  bfloat16: 2,
};
const MAX_VARIABLES = 100_000;

interface Variable {
  readonly dims: readonly number[];
  readonly type: ElementType;
  readonly data: Uint8Array;
}

/** A matrix or vector of a checkpoint, converted to float32; row-major. */
export interface CheckpointTensor {
  readonly dims: readonly number[];
  readonly values: Float32Array;
}

export class Ct2Checkpoint {
  /** Such as `WhisperSpec`. */
  readonly spec: string;
  readonly #variables = new Map<string, Variable>();

  /**
   * @param bytes the whole file. Tensors are read lazily, so it must not be modified.
   * @throws Error that describes the problem when the file is not a CTranslate2 model.
   */
  constructor(bytes: Uint8Array) {
    const reader = new Reader(bytes);
    const version = reader.uint(4);
    if (version < 4 || version > 6) {
      throw new Error(
        `The file is not a CTranslate2 model of version 4 to 6: its version field is ${version}.`,
      );
    }
    this.spec = reader.name();
    reader.uint(4);
    const count = reader.uint(4);
    if (count > MAX_VARIABLES)
      throw new Error(
        `The CTranslate2 model has ${count} variables, more than the maximum of ${MAX_VARIABLES}.`,
      );
    for (let i = 0; i < count; i++) {
      const name = reader.name();
      const dims = Array.from({ length: reader.uint(1) }, () => reader.uint(4));
      const type = ELEMENT_TYPES[reader.uint(1)];
      if (type === undefined) throw new Error(`${name}: unknown element type.`);
      const data = reader.bytes(reader.uint(4));
      if (data.length !== dims.reduce((product, size) => product * size, ELEMENT_BYTES[type])) {
        throw new Error(`${name}: ${data.length} bytes are not [${dims.join(', ')}] of ${type}.`);
      }
      this.#variables.set(name, { dims, type, data });
    }
    const aliases = reader.atEnd ? 0 : reader.uint(4);
    for (let i = 0; i < aliases; i++) {
      const alias = reader.name();
      const name = reader.name();
      const variable = this.#variables.get(name);
      if (variable === undefined) throw new Error(`Alias ${alias} refers to the missing variable '${name}'.`);
      this.#variables.set(alias, variable);
    }
  }

  has(name: string): boolean {
    return this.#variables.has(name);
  }

  /** Returns an integer setting that is stored among the weights, such as `encoder/num_heads`. */
  setting(name: string): number {
    const [value = Number.NaN] = this.tensor(name).values;
    return value;
  }

  /**
   * Returns a variable as float32. Dequantises weights in int8 or int16 with a `_scale` per row.
   * @throws Error when the checkpoint lacks the variable.
   */
  tensor(name: string): CheckpointTensor {
    const variable = this.#variables.get(name);
    if (variable === undefined) throw new Error(`The checkpoint has no variable '${name}'.`);
    const { dims } = variable;
    const values = toFloats(variable);
    const scale = this.#variables.get(`${name}_scale`);
    if (scale !== undefined) divideRows(values, toFloats(scale));
    return { dims, values };
  }
}

function toFloats({ type, data }: Variable): Float32Array {
  // Copied, because elements in the file are not aligned.
  const { buffer } = new Uint8Array(data);
  switch (type) {
    case 'float32':
      return new Float32Array(buffer);
    case 'int8':
      return Float32Array.from(new Int8Array(buffer));
    case 'int16':
      return Float32Array.from(new Int16Array(buffer));
    case 'int32':
      return Float32Array.from(new Int32Array(buffer));
    case 'float16':
      return Float32Array.from(new Float16Array(buffer));
    case 'bfloat16': {
      // The upper half of a float32.
      const bits = Uint32Array.from(new Uint16Array(buffer), (half) => half << 16);
      return new Float32Array(bits.buffer);
    }
  }
}

/** CTranslate2 stores `q = round(w * scale)` with one scale per row, or one for all rows. */
function divideRows(values: Float32Array, scales: Float32Array): void {
  const columns = values.length / scales.length;
  for (const [row, scale] of scales.entries()) {
    for (let i = row * columns; i < (row + 1) * columns; i++) values[i] = (values[i] ?? 0) / scale;
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get atEnd(): boolean {
    return this.#offset === this.#bytes.length;
  }

  bytes(length: number): Uint8Array {
    const end = this.#offset + length;
    if (end > this.#bytes.length)
      throw new Error('The CTranslate2 model is truncated: the file is too short.');
    const bytes = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return bytes;
  }

  uint(lengthBytes: 1 | 2 | 4): number {
    const offset = this.#offset;
    this.bytes(lengthBytes);
    if (lengthBytes === 1) return this.#view.getUint8(offset);
    return lengthBytes === 2 ? this.#view.getUint16(offset, true) : this.#view.getUint32(offset, true);
  }

  name(): string {
    const bytes = this.bytes(this.uint(2));
    return new TextDecoder().decode(bytes.subarray(0, -1));
  }
}
