/** Boxes of MP4 files (ISO/IEC 14496-12), to create invalid files. */

export type Bytes = Uint8Array<ArrayBuffer>;

/** Boxes with child boxes, and the number of bytes before the first child. */
const CONTAINERS: Readonly<Record<string, number>> = {
  moov: 0,
  trak: 0,
  mdia: 0,
  minf: 0,
  stbl: 0,
  edts: 0,
  moof: 0,
  traf: 0,
  stsd: 8,
  avc1: 78,
  hvc1: 78,
  hev1: 78,
};
const HEADER_BYTES = 8;

interface Place {
  readonly start: number;
  readonly end: number;
  readonly type: string;
}

/** A box with the given content. */
export function box(type: string, ...content: readonly Uint8Array[]): Bytes {
  return sized(type, HEADER_BYTES + content.reduce((sum, part) => sum + part.length, 0), ...content);
}

/** A box with a declared size that may differ from its real size. */
export function sized(type: string, size: number, ...content: readonly Uint8Array[]): Bytes {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(size);
  header.write(type, 4, 'latin1');
  return joined(header, ...content);
}

export function joined(...parts: readonly Uint8Array[]): Bytes {
  return new Uint8Array(Buffer.concat(parts));
}

/** Big-endian 32-bit numbers. */
export function words(...values: readonly number[]): Bytes {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return new Uint8Array(bytes);
}

/** Content of the first box at a path such as `moov/trak/mdia/mdhd`. */
export function contentOf(file: Bytes, path: string): Bytes {
  const place = placesOf(file, path).at(-1) as Place;
  return file.slice(place.start + HEADER_BYTES, place.end);
}

/** A copy with a box replaced or removed, and updated sizes of its parents. */
export function withBox(file: Bytes, path: string, replacement: Uint8Array | undefined): Bytes {
  const places = placesOf(file, path);
  const { start, end } = places.at(-1) as Place;
  const bytes = joined(file.subarray(0, start), replacement ?? new Uint8Array(), file.subarray(end));
  const grown = bytes.length - file.length;
  const view = new DataView(bytes.buffer);
  for (const parent of places.slice(0, -1)) view.setUint32(parent.start, parent.end - parent.start + grown);
  return bytes;
}

/** A copy with the content of a box changed. */
export function withContent(file: Bytes, path: string, change: (content: Bytes) => Uint8Array): Bytes {
  const type = path.split('/').at(-1) as string;
  return withBox(file, path, box(type, change(contentOf(file, path))));
}

/** A copy with 32-bit numbers changed at byte offsets of the content of a box. */
export function withWords(file: Bytes, path: string, values: Readonly<Record<number, number>>): Bytes {
  return withContent(file, path, (content) => {
    const view = new DataView(content.buffer);
    for (const [at, value] of Object.entries(values)) view.setUint32(Number(at), value >>> 0);
    return content;
  });
}

function placesOf(file: Bytes, path: string): Place[] {
  const places: Place[] = [];
  let [from, to] = [0, file.length];
  for (const type of path.split('/')) {
    const place = boxesIn(file, from, to).find((found) => found.type === type);
    if (place === undefined) throw new Error(`there is no box '${type}' of '${path}'`);
    places.push(place);
    from = place.start + HEADER_BYTES + (CONTAINERS[type] ?? 0);
    to = place.end;
  }
  return places;
}

function boxesIn(file: Bytes, from: number, to: number): Place[] {
  const view = new DataView(file.buffer);
  const places: Place[] = [];
  for (let start = from; start + HEADER_BYTES <= to; ) {
    const size = view.getUint32(start);
    const type = Buffer.from(file.buffer, start + 4, 4).toString('latin1');
    // Boxes with 64-bit sizes and boxes up to the end of the file are not changed by tests.
    if (size < HEADER_BYTES) break;
    places.push({ start, end: start + size, type });
    start += size;
  }
  return places;
}
