/** AAC-LC in ADTS (ISO/IEC 14496-3) of one mono channel, in frames of one size. */

const HEADER_BYTES = 7;
/** Indexes of the sample rates (1.6.3.4). */
const RATE_INDEXES = new Map([
  [48_000, 3],
  [44_100, 4],
  [32_000, 5],
  [24_000, 6],
]);
/** Identifier of a fill element, and of the end of a frame: three bits each (4.5.2.1). */
const FILL = 0b110;
const END = 0b111;
/** Maximum length of a fill element in bytes: a count of four bits, extended by one of eight bits (4.4.2.7). */
const MAX_FILL_BYTES = 14 + 255;

export interface AdtsOptions {
  readonly rateHz: number;
  /**
   * Length of a frame with its header, in bytes. Shorter frames are filled. ADTS has no duration, so players compute it from the
   * size of the file and the length of the first frames.
   */
  readonly frameBytes: number;
}

/** Returns the frame of a packet of the encoder; it is longer than `frameBytes` if the packet is. */
export function adtsFrame(packet: Uint8Array, { rateHz, frameBytes }: AdtsOptions): Uint8Array<ArrayBuffer> {
  const data = filled(packet, frameBytes - HEADER_BYTES);
  const length = HEADER_BYTES + data.length;
  const rateIndex = RATE_INDEXES.get(rateHz);
  if (rateIndex === undefined) throw new RangeError(`no index of the rate ${rateHz} Hz`);
  const frame = new Uint8Array(length);
  // No checksum, one channel, one block per frame, variable bit rate of the buffer (1.A.2.2).
  frame.set([
    ...[0xff, 0xf1, (1 << 6) | (rateIndex << 2), (1 << 6) | (length >> 11)],
    ...[(length >> 3) & 0xff, ((length & 7) << 5) | 0x1f, 0xfc],
  ]);
  frame.set(data, HEADER_BYTES);
  return frame;
}

/** Inserts fill elements before the end of a block, so that it has `bytes` bytes, or a byte less in the rare cases that no element fits. */
function filled(packet: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
  const writer = new BitWriter(Math.max(packet.length, bytes));
  writer.copy(packet, endBit(packet));
  for (;;) {
    // The element with the count of four bits, and the end.
    const room = Math.floor((bytes * 8 - writer.bits - 3 - 3 - 4) / 8);
    if (room < 0) break;
    writer.write(FILL, 3);
    const isShort = room < 15;
    // A longer element has one more byte of count: 15 plus the extension minus 1 bytes.
    const count = isShort ? room : Math.min(room - 1, MAX_FILL_BYTES);
    writer.write(isShort ? count : 15, 4);
    if (!isShort) writer.write(count - 14, 8);
    // Extension type 0 is fill; its bytes are ignored.
    writer.skip(count * 8);
  }
  writer.write(END, 3);
  return writer.bytes();
}

/** Position of the end identifier, whose last bit is the last set bit: zeros follow it up to the next byte. */
function endBit(packet: Uint8Array): number {
  let last = packet.length - 1;
  while (last >= 0 && packet[last] === 0) last--;
  const byte = packet[last] ?? 0;
  const zeros = 31 - Math.clz32(byte & -byte);
  return last * 8 + 8 - zeros - 3;
}

/** Writes bits, the most significant first, to an array of zeros. */
class BitWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  bits = 0;

  constructor(bytes: number) {
    this.#bytes = new Uint8Array(bytes);
  }

  copy(source: Uint8Array, bits: number): void {
    const whole = bits >> 3;
    this.#bytes.set(source.subarray(0, whole));
    this.bits = whole * 8;
    const rest = bits & 7;
    if (rest > 0) this.write((source[whole] ?? 0) >> (8 - rest), rest);
  }

  write(value: number, bits: number): void {
    for (let bit = bits - 1; bit >= 0; bit--, this.bits++) {
      if ((value >> bit) & 1)
        this.#bytes[this.bits >> 3] = (this.#bytes[this.bits >> 3] ?? 0) | (0x80 >> (this.bits & 7));
    }
  }

  skip(bits: number): void {
    this.bits += bits;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, Math.ceil(this.bits / 8));
  }
}
