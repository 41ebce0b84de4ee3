/**
 * Finds the samples of WAV files with wrong sizes. Recorders write the sizes when they stop, so a crash leaves 0 or the
 * maximum, and programs that copy or tag recordings get them wrong. The bytes present decide, not the sizes.
 */

import type { ByteSource } from '../process/byte-source.ts';
import { UnusableMediaError } from '../process/protocol.ts';

const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** The largest known format is that of ADPCM with coefficients, 50 bytes. */
const MAX_FORMAT_BYTES = 1024;
/** Recorders write about ten chunks. */
const MAX_CHUNKS = 1000;
/** Search range in bytes for a chunk after one with a wrong size; covers pictures in metadata. */
const MAX_SEARCH_BYTES = 4 << 20;
const SEARCH_BLOCK_BYTES = 64 << 10;
/** Sizes above this are placeholders for an unknown length, for example 0x7FFFFFFF minus the length of the header. */
const MIN_UNKNOWN_SIZE = 0x7fff_0000;
const MAX_SIZE = 0xffff_ffff;

/** Format tags (RFC 2361) whose samples have a fixed size. */
const TAGS = { pcm: 1, float: 3, alaw: 6, mulaw: 7, extensible: 0xfffe } as const;

/** Chunks that follow the samples. They are recognized even if their own size is wrong. */
const METADATA_IDS =
  /^(LIST|id3 |ID3 |bext|fact|cue |smpl|inst|PEAK|JUNK|PAD |FLLR|iXML|axml|_PMX|DISP|afsp)$/;
/** Tags for MP3 files that programs append to any file. */
const APPENDED_TAG = /^(ID3|TAG|APETAGEX|LYRICSBE)/;

/** A WAV file with correct sizes. */
export interface CorrectedWav {
  /** `fmt ` and `data` chunks with the sizes of the bytes present. Other chunks are omitted. */
  readonly bytes: ByteSource;
  /** As declared; 0 if missing. */
  readonly rateHz: number;
  readonly channels: number;
  readonly formatTag: number;
  /** Duration in seconds; undefined for compressed samples. */
  readonly durationS: number | undefined;
}

/**
 * Corrects the sizes of a RIFF, RF64 or BW64 file with format `WAVE`. The samples end at their declared size if only
 * chunks follow, and otherwise at the end of the file. An incomplete last sample is omitted.
 * @throws UnusableMediaError `bad-container` if the file has no format or no samples.
 */
export async function correctedWav(bytes: ByteSource): Promise<CorrectedWav> {
  const { format, data } = await chunksOf(bytes);
  if (format === undefined) throw badWav('it has no complete `fmt ` chunk');
  if (data === undefined) throw badWav('it has no `data` chunk');
  const fields = formatFields(format);
  const present = (await endOfData(bytes, data)) - data.from;
  const { frameBytes } = fields;
  const dataBytes = frameBytes === undefined ? present : present - (present % frameBytes);
  return {
    bytes: wavView(bytes, format, data.from, dataBytes),
    rateHz: fields.rateHz,
    channels: fields.channels,
    formatTag: fields.tag,
    durationS: frameBytes === undefined ? undefined : dataBytes / frameBytes / fields.rateHz,
  };
}

function badWav(detail: string): UnusableMediaError {
  return new UnusableMediaError({ kind: 'bad-container', container: 'wav', detail });
}

interface Data {
  /** Position of the first byte. */
  readonly from: number;
  /** Declared size in bytes. */
  readonly size: number;
}

interface Chunk {
  readonly id: string;
  readonly size: number;
}

/** Reads the chunks up to the samples. No known program writes the format after them. */
async function chunksOf(
  bytes: ByteSource,
): Promise<{ format: Uint8Array<ArrayBuffer> | undefined; data: Data | undefined }> {
  let format: Uint8Array<ArrayBuffer> | undefined;
  let wideSize: number | undefined;
  let at: number | undefined = RIFF_HEADER_BYTES;
  for (let count = 0; at !== undefined && count < MAX_CHUNKS; count++) {
    const chunk = await chunkAt(bytes, at);
    if (chunk === undefined) break;
    const { id, size } = chunk;
    const body = at + CHUNK_HEADER_BYTES;
    if (id === 'data') {
      return { format, data: { from: body, size: size === MAX_SIZE ? (wideSize ?? size) : size } };
    }
    if (id === 'fmt ') format = await formatAt(bytes, body, size);
    if (id === 'ds64') wideSize = await wideDataSize(bytes, body);
    at = await nextChunk(bytes, body, size, format === undefined ? 'fmt ' : 'data');
  }
  return { format, data: undefined };
}

async function formatAt(
  bytes: ByteSource,
  body: number,
  size: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const format = await bytes.read(body, Math.min(size, MAX_FORMAT_BYTES));
  return format.length >= 16 ? format.slice() : undefined;
}

/** The 64-bit size of the samples in the `ds64` chunk of RF64 (EBU Tech 3306, 3.2). */
async function wideDataSize(bytes: ByteSource, body: number): Promise<number | undefined> {
  const sizes = await bytes.read(body, 16);
  return sizes.length === 16 ? Number(viewOf(sizes).getBigUint64(8, true)) : undefined;
}

/** Position of the next chunk: after the size, with or without its padding byte, or where a search finds it. */
async function nextChunk(
  bytes: ByteSource,
  body: number,
  size: number,
  wanted: 'fmt ' | 'data',
): Promise<number | undefined> {
  for (const at of [body + size + (size & 1), body + size]) {
    const chunk = await chunkAt(bytes, at);
    if (chunk !== undefined && (chunk.id === 'data' || fits(bytes, at, chunk))) return at;
  }
  return await findChunk(bytes, body, wanted);
}

/** Searches a chunk by its id. The id may also occur in a text, so the first one with a plausible size is preferred. */
async function findChunk(bytes: ByteSource, from: number, id: 'fmt ' | 'data'): Promise<number | undefined> {
  let fallback: number | undefined;
  const end = Math.min(bytes.size, from + MAX_SEARCH_BYTES);
  for (let start = from; start < end; start += SEARCH_BLOCK_BYTES) {
    const block = Buffer.from(await bytes.read(start, SEARCH_BLOCK_BYTES + id.length - 1));
    for (let found = block.indexOf(id); found >= 0; found = block.indexOf(id, found + 1)) {
      const at = start + found;
      const chunk = await chunkAt(bytes, at);
      if (chunk === undefined) continue;
      if (chunk.size === 0 || chunk.size >= MIN_UNKNOWN_SIZE || fits(bytes, at, chunk)) return at;
      fallback ??= at;
    }
  }
  return fallback;
}

/** End of the samples: at their size if only metadata follow, otherwise the end of the file. */
async function endOfData(bytes: ByteSource, { from, size }: Data): Promise<number> {
  const declared = from + size;
  if (declared >= bytes.size) return bytes.size;
  return (await isMetadata(bytes, declared, size & 1)) ? declared : bytes.size;
}

/** Whether everything from a position is chunks, a tag, or too short for both. */
async function isMetadata(bytes: ByteSource, from: number, padding: number): Promise<boolean> {
  const tag = Buffer.from(await bytes.read(from, CHUNK_HEADER_BYTES)).toString('latin1');
  if (APPENDED_TAG.test(tag)) return true;
  let at = (await chunkAt(bytes, from + padding)) === undefined ? from : from + padding;
  for (let count = 0; count < MAX_CHUNKS && at + CHUNK_HEADER_BYTES <= bytes.size; count++) {
    const chunk = await chunkAt(bytes, at);
    if (chunk === undefined) return false;
    if (METADATA_IDS.test(chunk.id)) return true;
    if (!fits(bytes, at, chunk)) return false;
    at += CHUNK_HEADER_BYTES + chunk.size + (chunk.size & 1);
  }
  return true;
}

/** The header of a chunk; undefined if the bytes at the position cannot be one. */
async function chunkAt(bytes: ByteSource, at: number): Promise<Chunk | undefined> {
  const header = await bytes.read(at, CHUNK_HEADER_BYTES);
  if (header.length < CHUNK_HEADER_BYTES) return undefined;
  const id = Buffer.from(header).toString('latin1', 0, 4);
  if (!/^[ -~]{4}$/.test(id)) return undefined;
  return { id, size: viewOf(header).getUint32(4, true) };
}

function fits(bytes: ByteSource, at: number, { size }: Chunk): boolean {
  return at + CHUNK_HEADER_BYTES + size <= bytes.size;
}

interface FormatFields {
  readonly tag: number;
  readonly channels: number;
  readonly rateHz: number;
  /** Bytes per sample of all channels; undefined for compressed samples. */
  readonly frameBytes: number | undefined;
}

/** Reads the format, and corrects the fields that follow from others, because recorders leave them wrong. */
function formatFields(format: Uint8Array<ArrayBuffer>): FormatFields {
  const view = viewOf(format);
  const outerTag = view.getUint16(0, true);
  // The first two bytes of the GUID of an extensible format are the tag.
  const tag = outerTag === TAGS.extensible && format.length >= 26 ? view.getUint16(24, true) : outerTag;
  const channels = view.getUint16(2, true);
  const rateHz = view.getUint32(4, true);
  const isLogarithmic = tag === TAGS.alaw || tag === TAGS.mulaw;
  if (isLogarithmic) view.setUint16(14, 8, true);
  const sampleBytes = Math.ceil(view.getUint16(14, true) / 8);
  const hasFixedSize = isLogarithmic || tag === TAGS.pcm || tag === TAGS.float;
  if (!hasFixedSize || channels * sampleBytes === 0) return { tag, channels, rateHz, frameBytes: undefined };
  const frameBytes = channels * sampleBytes;
  view.setUint32(8, (rateHz * frameBytes) % 2 ** 32, true);
  view.setUint16(12, frameBytes % 2 ** 16, true);
  return { tag, channels, rateHz, frameBytes };
}

/** A file with a correct header in front of the samples. */
function wavView(bytes: ByteSource, format: Uint8Array, dataFrom: number, dataBytes: number): ByteSource {
  const formatBytes = format.length + (format.length & 1);
  const header = new Uint8Array(RIFF_HEADER_BYTES + 2 * CHUNK_HEADER_BYTES + formatBytes);
  const view = viewOf(header);
  const dataHeader = RIFF_HEADER_BYTES + CHUNK_HEADER_BYTES + formatBytes;
  header.set(Buffer.from('RIFF'), 0);
  view.setUint32(4, Math.min(MAX_SIZE, header.length - CHUNK_HEADER_BYTES + dataBytes), true);
  header.set(Buffer.from('WAVEfmt '), 8);
  view.setUint32(16, formatBytes, true);
  header.set(format, 20);
  header.set(Buffer.from('data'), dataHeader);
  // The maximum means until the end of the file.
  view.setUint32(dataHeader + 4, Math.min(MAX_SIZE, dataBytes), true);
  const size = header.length + dataBytes;
  return {
    size,
    async read(position, length) {
      if (position < header.length) return header.slice(position, position + length);
      return await bytes.read(dataFrom + position - header.length, Math.min(length, size - position));
    },
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
