/** Writes `model.bin` files of CTranslate2, valid or damaged. */

const ELEMENT_TYPES = ['float32', 'int8', 'int16', 'int32', 'float16', 'bfloat16'] as const;
export type ElementType = (typeof ELEMENT_TYPES)[number];

export interface StoredVariable {
  readonly name: string;
  readonly dims: readonly number[];
  readonly type: ElementType;
  readonly data: ArrayBufferView<ArrayBuffer>;
}

export interface CheckpointOptions {
  readonly version?: number;
  readonly spec?: string;
  /** Aliases of variables. */
  readonly aliases?: readonly (readonly [alias: string, name: string])[];
  /** Wrong values for damaged files. */
  readonly count?: number;
  readonly typeCode?: number;
  readonly lengthBytes?: number;
}

/** A checkpoint file; default version: 6. */
export function storedCheckpoint(
  variables: readonly StoredVariable[],
  {
    version = 6,
    spec = 'WhisperSpec',
    aliases = [],
    count = variables.length,
    typeCode,
    lengthBytes,
  }: CheckpointOptions = {},
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const uint = (size: 1 | 2 | 4, value: number) => {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, value, true);
    parts.push(bytes.subarray(0, size));
  };
  const name = (text: string) => {
    const bytes = new TextEncoder().encode(`${text}\0`);
    uint(2, bytes.length);
    parts.push(bytes);
  };
  uint(4, version);
  name(spec);
  uint(4, 3);
  uint(4, count);
  for (const variable of variables) {
    name(variable.name);
    uint(1, variable.dims.length);
    for (const size of variable.dims) uint(4, size);
    uint(1, typeCode ?? ELEMENT_TYPES.indexOf(variable.type));
    uint(4, lengthBytes ?? variable.data.byteLength);
    const { buffer, byteOffset, byteLength } = variable.data;
    parts.push(new Uint8Array(buffer, byteOffset, byteLength));
  }
  uint(4, aliases.length);
  for (const [alias, target] of aliases) {
    name(alias);
    name(target);
  }
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
