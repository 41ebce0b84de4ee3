import { expect, test } from 'vitest';
import { OggOpusWriter } from './ogg-opus.ts';

/** The identification header of a mono stream with 312 samples to skip. */
const HEADER = Uint8Array.from([...Buffer.from('OpusHead'), 1, 1, 0x38, 1, 0xc0, 0x5d, 0, 0, 0, 0, 0]);
const SERIAL = 0x0102_0304;

interface Page {
  readonly flags: number;
  readonly granule: number;
  readonly serial: number;
  readonly sequence: number;
  readonly packets: readonly number[];
}

/** Parses pages and checks their checksums. */
function pagesOf(bytes: Uint8Array): Page[] {
  const pages: Page[] = [];
  for (let at = 0; at < bytes.length; ) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at);
    expect(Buffer.from(bytes.subarray(at, at + 4)).toString()).toBe('OggS');
    const segments = [...bytes.subarray(at + 27, at + 27 + view.getUint8(26))];
    const length = 27 + segments.length + segments.reduce((sum, size) => sum + size, 0);
    const page = bytes.slice(at, at + length);
    page.fill(0, 22, 26);
    expect(view.getUint32(22, true)).toBe(checksumOf(page));
    const packets = [0];
    for (const [index, size] of segments.entries()) {
      packets[packets.length - 1] = (packets.at(-1) ?? 0) + size;
      if (size < 255 && index < segments.length - 1) packets.push(0);
    }
    pages.push({
      flags: view.getUint8(5),
      granule: Number(view.getBigInt64(6, true)),
      serial: view.getUint32(14, true),
      sequence: view.getUint32(18, true),
      packets,
    });
    at += length;
  }
  return pages;
}

/** Bit by bit, by the definition in RFC 3533. */
function checksumOf(bytes: Uint8Array): number {
  let value = 0n;
  for (const byte of bytes) {
    value ^= BigInt(byte) << 24n;
    for (let bit = 0; bit < 8; bit++) {
      value = (value << 1n) ^ ((value >> 31n) & 1n ? 0x1_04c1_1db7n : 0n);
    }
  }
  return Number(value);
}

/** Packets of 20 ms at 24 kHz behind a delay of 156 samples. */
const packets = (count: number, bytes = 100) =>
  Array.from({ length: count }, (_, index) => ({
    data: new Uint8Array(bytes).fill(index + 1),
    startSample: index * 480 - 156,
    samples: 480,
  }));

test('a file starts with a page for each header', () => {
  const pages = pagesOf(new OggOpusWriter(HEADER, 24_000, SERIAL).start());
  expect(pages).toEqual([
    { flags: 2, granule: 0, serial: SERIAL, sequence: 0, packets: [HEADER.length] },
    { flags: 0, granule: 0, serial: SERIAL, sequence: 1, packets: [29] },
  ]);
});

test('pages have at most 200 ms, and the last packet is on the last page', () => {
  const writer = new OggOpusWriter(HEADER, 24_000, SERIAL);
  writer.start();
  const pages = pagesOf(writer.add(packets(25)));
  expect(pages.map(({ packets, granule }) => [packets.length, granule])).toEqual([
    [10, 9600],
    [10, 19_200],
    [4, 23_040],
  ]);
  expect(pages.map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
  const last = pagesOf(writer.finish());
  expect(last).toEqual([{ flags: 4, granule: 24_000, serial: SERIAL, sequence: 5, packets: [100] }]);
});

test('the position of the last page is the end of the input, so the padding behind it is not played', () => {
  const writer = new OggOpusWriter(HEADER, 24_000, SERIAL);
  writer.add([...packets(1), { data: new Uint8Array(9), startSample: 324, samples: 100 }]);
  // 424 samples at 24 kHz are 848 at 48 kHz.
  expect(pagesOf(writer.finish())).toMatchObject([{ flags: 4, granule: 848 + 312 }]);
});

test.each([254, 255, 256, 510, 1275])('a packet of %d bytes keeps its length', (bytes) => {
  const writer = new OggOpusWriter(HEADER, 24_000, SERIAL);
  const pages = pagesOf(writer.add(packets(11, bytes)));
  expect(pages.map((page) => page.packets)).toEqual([new Array(10).fill(bytes)]);
});

test('one packet is held back until the next one', () => {
  const writer = new OggOpusWriter(HEADER, 24_000, SERIAL);
  expect(writer.add(packets(1)).length).toBe(0);
  expect(writer.add([]).length).toBe(0);
});
