/** Boxes of MP4 files (ISO/IEC 14496-12), to make files that no honest program writes. */

export type Bytes = Uint8Array<ArrayBuffer>;

/** Boxes that hold boxes, and how many bytes come before these. */
const HOLDERS: Readonly<Record<string, number>> = {
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

/** A box of what it holds. */
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

/** Numbers of 32 bits. */
export function words(...values: readonly number[]): Bytes {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return new Uint8Array(bytes);
}

/** What a box holds, found by its path, e.g. `moov/trak/mdia/mdhd`: the first of each name. */
export function contentOf(file: Bytes, path: string): Bytes {
  const place = placesOf(file, path).at(-1) as Place;
  return file.slice(place.start + HEADER_BYTES, place.end);
}

/** A copy in which a box is replaced, or left out; the boxes around it get their new size. */
export function withBox(file: Bytes, path: string, replacement: Uint8Array | undefined): Bytes {
  const places = placesOf(file, path);
  const { start, end } = places.at(-1) as Place;
  const bytes = joined(file.subarray(0, start), replacement ?? new Uint8Array(), file.subarray(end));
  const grown = bytes.length - file.length;
  const view = new DataView(bytes.buffer);
  for (const holder of places.slice(0, -1)) view.setUint32(holder.start, holder.end - holder.start + grown);
  return bytes;
}

/** A copy with other content in a box. */
export function withContent(file: Bytes, path: string, change: (content: Bytes) => Uint8Array): Bytes {
  const type = path.split('/').at(-1) as string;
  return withBox(file, path, box(type, change(contentOf(file, path))));
}

/** A copy with other numbers of 32 bits in a box, at these bytes of its content. */
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
    from = place.start + HEADER_BYTES + (HOLDERS[type] ?? 0);
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
    // Large boxes and those up to the end hold nothing that is changed here.
    if (size < HEADER_BYTES) break;
    places.push({ start, end: start + size, type });
    start += size;
  }
  return places;
}
