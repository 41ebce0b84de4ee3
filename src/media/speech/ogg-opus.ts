/** Ogg Opus files (RFC 3533, RFC 7845) of one mono stream. */

import type { EncodedPacket } from './packet-encoder.ts';

/** Granule positions count samples at this rate, whatever the rate of the input is (RFC 7845, 4). */
const GRANULE_RATE_HZ = 48_000;
const PAGE_HEADER_BYTES = 27;
/** Lacing values per page (RFC 3533, 6). */
const MAX_SEGMENTS = 255;
/** A page has at most 200 ms of audio, so that players can start and seek. */
const PACKETS_PER_PAGE = 10;
const FIRST_PAGE = 2;
const LAST_PAGE = 4;
const VENDOR = 'voice-service';

/** Writes pages. The last packet is held back, because its page is marked as the last one. */
export class OggOpusWriter {
  readonly #header: Uint8Array<ArrayBuffer>;
  readonly #serial: number;
  readonly #granulesPerSample: number;
  readonly #preSkip: number;
  #pages = 0;
  #packets: EncodedPacket[] = [];

  /**
   * @param header the identification header (RFC 7845, 5.1), which has the number of samples to skip at the start.
   * @param rateHz rate of the positions of the packets.
   * @param serial number of the stream in its file.
   */
  constructor(header: Uint8Array<ArrayBuffer>, rateHz: number, serial: number) {
    this.#header = header;
    this.#preSkip = new DataView(header.buffer, header.byteOffset).getUint16(10, true);
    this.#granulesPerSample = GRANULE_RATE_HZ / rateHz;
    this.#serial = serial;
  }

  /** The two pages before the audio. */
  start(): Uint8Array<ArrayBuffer> {
    return joined([this.#page([this.#header], 0n, FIRST_PAGE), this.#page([commentHeader()], 0n, 0)]);
  }

  /** Adds packets; returns the pages of all packets but the last. */
  add(packets: Iterable<EncodedPacket>): Uint8Array<ArrayBuffer> {
    this.#packets.push(...packets);
    const pages: Uint8Array<ArrayBuffer>[] = [];
    while (this.#packets.length > 1) {
      pages.push(
        this.#audioPage(this.#packets.splice(0, Math.min(PACKETS_PER_PAGE, this.#packets.length - 1)), 0),
      );
    }
    return joined(pages);
  }

  /** The last page. Its position is that of the last sample of the input, so players drop the padding behind it. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#audioPage(this.#packets.splice(0), LAST_PAGE);
  }

  #audioPage(packets: readonly EncodedPacket[], flags: number): Uint8Array<ArrayBuffer> {
    const last = packets.at(-1);
    const end = last === undefined ? 0 : (last.startSample + last.samples) * this.#granulesPerSample;
    return this.#page(
      packets.map(({ data }) => data),
      BigInt(Math.round(end) + this.#preSkip),
      flags,
    );
  }

  #page(packets: readonly Uint8Array[], granule: bigint, flags: number): Uint8Array<ArrayBuffer> {
    const lacing = packets.flatMap(({ length }) => [
      ...new Array<number>(Math.floor(length / 255)).fill(255),
      length % 255,
    ]);
    if (lacing.length > MAX_SEGMENTS) throw new RangeError(`an Ogg page of ${lacing.length} segments`);
    const page = new Uint8Array(
      PAGE_HEADER_BYTES + lacing.length + packets.reduce((sum, { length }) => sum + length, 0),
    );
    const view = new DataView(page.buffer);
    page.set(Buffer.from('OggS'));
    page[5] = flags;
    view.setBigInt64(6, granule, true);
    view.setUint32(14, this.#serial, true);
    view.setUint32(18, this.#pages++, true);
    page[26] = lacing.length;
    page.set(lacing, PAGE_HEADER_BYTES);
    let at = PAGE_HEADER_BYTES + lacing.length;
    for (const packet of packets) {
      page.set(packet, at);
      at += packet.length;
    }
    view.setUint32(22, checksum(page), true);
    return page;
  }
}

/** The comment header (RFC 7845, 5.2) without comments. */
function commentHeader(): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(8 + 4 + VENDOR.length + 4);
  header.set(Buffer.from('OpusTags'));
  new DataView(header.buffer).setUint32(8, VENDOR.length, true);
  header.set(Buffer.from(VENDOR), 12);
  return header;
}

/** The polynomial of Ogg, without reflection (RFC 3533, 6). */
const POLYNOMIAL = 0x04c1_1db7;
const CHECKSUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit++) value = value < 0 ? (value << 1) ^ POLYNOMIAL : value << 1;
  return value;
});

function checksum(page: Uint8Array): number {
  let value = 0;
  for (const byte of page) value = (value << 8) ^ (CHECKSUMS[((value >>> 24) ^ byte) & 0xff] ?? 0);
  return value >>> 0;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.concat(parts));
}
