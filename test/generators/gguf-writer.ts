/** Writes the metadata of GGUF files, valid or damaged. */

const TYPES = {
  uint8: 0,
  int8: 1,
  uint16: 2,
  int16: 3,
  uint32: 4,
  int32: 5,
  float32: 6,
  bool: 7,
  string: 8,
  array: 9,
  uint64: 10,
  int64: 11,
  float64: 12,
} as const;
export type GgufType = keyof typeof TYPES;

export type GgufPair =
  | { readonly key: string; readonly type: Exclude<GgufType, 'string' | 'array'>; readonly value: number }
  | { readonly key: string; readonly type: 'string'; readonly value: string }
  | { readonly key: string; readonly type: 'array'; readonly value: GgufArray };
export type GgufArray =
  | { readonly of: 'string'; readonly items: readonly string[] }
  | { readonly of: 'uint32'; readonly items: readonly number[] }
  | { readonly of: 'array'; readonly items: readonly GgufArray[] };

export interface GgufOptions {
  readonly magic?: string;
  readonly version?: number;
  /** Wrong number of pairs. */
  readonly count?: bigint;
}

/** The bytes of a file with these pairs and no tensors; default version: 3. */
export function ggufFile(
  pairs: readonly GgufPair[],
  { magic = 'GGUF', version = 3, count = BigInt(pairs.length) }: GgufOptions = {},
): Uint8Array<ArrayBuffer> {
  const parts = [Buffer.from(magic), uint(4, version), u64(0), u64(count)];
  for (const pair of pairs) {
    parts.push(text(pair.key), uint(4, TYPES[pair.type]));
    if (pair.type === 'string') parts.push(text(pair.value));
    else if (pair.type === 'array') parts.push(array(pair.value));
    else parts.push(scalar(pair.type, pair.value));
  }
  return new Uint8Array(Buffer.concat(parts));
}

function array(content: GgufArray): Buffer {
  const items =
    content.of === 'string'
      ? content.items.map(text)
      : content.of === 'uint32'
        ? content.items.map((item) => uint(4, item))
        : content.items.map(array);
  return Buffer.concat([uint(4, TYPES[content.of]), u64(items.length), ...items]);
}

function scalar(type: Exclude<GgufType, 'string' | 'array'>, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  switch (type) {
    case 'float32':
      bytes.writeFloatLE(value);
      return bytes.subarray(0, 4);
    case 'float64':
      bytes.writeDoubleLE(value);
      return bytes;
    default: {
      const width = {
        bool: 1,
        uint8: 1,
        int8: 1,
        uint16: 2,
        int16: 2,
        uint32: 4,
        int32: 4,
        uint64: 8,
        int64: 8,
      };
      bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
      return bytes.subarray(0, width[type]);
    }
  }
}

function text(content: string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function uint(width: number, value: number): Buffer {
  const bytes = Buffer.alloc(width);
  bytes.writeUIntLE(value, 0, width);
  return bytes;
}
