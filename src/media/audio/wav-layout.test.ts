import { describe, expect, test } from 'vitest';
import { type WavShape, wavFile } from '../../../tools/harness/media/wav-files.ts';
import type { ByteSource } from '../process/byte-source.ts';
import { correctedWav } from './wav-layout.ts';

const SHAPE: WavShape = { kind: 'int', bits: 16, rateHz: 16_000, channels: 1 };
const HEADER_BYTES = 44;
/** Quiet noise: its bytes never look like the id of a chunk. */
const SAMPLES = Float32Array.from({ length: 8000 }, (_, i) => ((i * 7919) % 101) / 3000 - 0.016);
const whole = Buffer.from(wavFile(SHAPE, SAMPLES));
const audio = whole.subarray(HEADER_BYTES);

function bytesOf(file: Uint8Array): ByteSource {
  return { size: file.length, read: async (at, length) => new Uint8Array(file.slice(at, at + length)) };
}

/** The samples that a decoder receives. */
async function dataOf(file: Uint8Array): Promise<Buffer> {
  const { bytes } = await correctedWav(bytesOf(file));
  const all = Buffer.from(await bytes.read(0, bytes.size));
  const rest = Buffer.from(await bytes.read(all.length, bytes.size));
  const at = all.indexOf('data');
  const data = Buffer.concat([all, rest]).subarray(at + 8);
  expect(all.readUInt32LE(4)).toBe(bytes.size - 8);
  expect(all.readUInt32LE(at + 4)).toBe(data.length);
  return data;
}

function chunk(id: string, body: Uint8Array | string, size = body.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(size >>> 0, 4);
  return Buffer.concat([head, Buffer.from(body)]);
}

const format = chunk('fmt ', whole.subarray(20, 36));

/** A file of chunks; the size in its header is that of the chunks unless it is given. */
function riff(chunks: readonly Uint8Array[], size?: number, id = 'RIFF'): Buffer {
  const body = Buffer.concat(chunks);
  const head = Buffer.from(`${id}    WAVE`);
  head.writeUInt32LE((size ?? body.length + 4) >>> 0, 4);
  return Buffer.concat([head, body]);
}

const SIZES = [0, 1, 36, 0x7fff_ffff, 0x7fff_ffdb, 0xffff_ffff, 0xffff_fff0];

describe('the bytes present decide', () => {
  test.each(SIZES.flatMap((riffSize) => SIZES.map((dataSize) => [riffSize, dataSize] as const)))(
    'RIFF size %d, data size %d',
    async (riffSize, dataSize) => {
      expect(await dataOf(riff([format, chunk('data', audio, dataSize)], riffSize))).toEqual(audio);
    },
  );

  test.each([2000, audio.length - 2, audio.length - 1])(
    'a data size of %d that is too small',
    async (size) => {
      // Less than a chunk header after the samples is padding.
      const expected = audio.length - size < 8 ? audio.subarray(0, size & ~1) : audio;
      expect(await dataOf(riff([format, chunk('data', audio, size)]))).toEqual(expected);
    },
  );

  test.each([1, 3])('%d bytes of an incomplete sample at the end', async (count) => {
    const stereo = wavFile({ ...SHAPE, channels: 2 }, SAMPLES);
    const complete = stereo.slice(HEADER_BYTES);
    const cut = Buffer.concat([stereo, Buffer.alloc(count, 1)]);
    cut.writeUInt32LE(0xffff_ffff, 40);
    expect(await dataOf(cut)).toEqual(Buffer.from(complete));
  });

  test('RF64 with sizes and without', async () => {
    for (const size of [audio.length, 0, 2 ** 40]) {
      const sizes = Buffer.alloc(28);
      sizes.writeBigUInt64LE(BigInt(size), 8);
      const file = riff(
        [chunk('ds64', sizes), format, chunk('data', audio, 0xffff_ffff)],
        0xffff_ffff,
        'RF64',
      );
      expect(await dataOf(file)).toEqual(audio);
    }
  });
});

describe('chunks before the samples', () => {
  const text = 'INFOISFT\x0e\0\0\0Recorder 1.2\0\0';

  test.each([
    ['with a correct size', chunk('LIST', text)],
    ['whose inner size is too large', chunk('LIST', text.replace('\x0e', '\xee'))],
    ['whose size is too small', chunk('LIST', text, 4)],
    ['whose size ends inside a text', chunk('LIST', text, 15)],
    ['whose size is too large', chunk('LIST', text, 60)],
    ['whose size is that of a huge file', chunk('LIST', text, 0xffff_ff00)],
    ['that mentions data', chunk('LIST', 'INFOICMT\x10\0\0\0the data of today', 7)],
    ['of odd length without padding', chunk('note', 'odd')],
    ['of odd length with padding', Buffer.concat([chunk('note', 'odd'), Buffer.of(0)])],
  ])('LIST %s', async (_, list) => {
    expect(await dataOf(riff([format, list, chunk('data', audio)]))).toEqual(audio);
    expect(await dataOf(riff([list, format, chunk('data', audio, 0)]))).toEqual(audio);
  });
});

describe('what follows the samples', () => {
  test.each([
    ['a LIST chunk', chunk('LIST', 'INFOISFT\x04\0\0\0abcd')],
    ['a LIST chunk with a wrong size', chunk('LIST', 'INFOISFT\x04\0\0\0abcd', 0xffff)],
    ['two chunks', Buffer.concat([chunk('cue ', '12345678'), chunk('xtra', 'ab')])],
    ['an unknown chunk', chunk('_ab1', 'abcdefgh')],
    ['an ID3 tag', Buffer.from(`ID3\x03\0\0\0\0\0\x20${'x'.repeat(32)}`)],
    ['an old ID3 tag', Buffer.from(`TAG${'\0'.repeat(125)}`)],
    ['a padding byte', Buffer.of(0)],
  ])('%s is not audio', async (_, after) => {
    expect(await dataOf(riff([format, chunk('data', audio), after]))).toEqual(audio);
  });
});

test('the format and the duration are those of the file', async () => {
  const { rateHz, channels, formatTag, durationS } = await correctedWav(bytesOf(whole));
  expect({ rateHz, channels, formatTag, durationS }).toEqual({
    rateHz: 16_000,
    channels: 1,
    formatTag: 1,
    durationS: 0.5,
  });
});

test('fields of the format that follow from others are corrected', async () => {
  const odd = Buffer.from(wavFile({ ...SHAPE, kind: 'mulaw', bits: 8, claims: { blockBytes: 9 } }, SAMPLES));
  odd.writeUInt16LE(16, 34); // bits per sample
  const { bytes, durationS } = await correctedWav(bytesOf(odd));
  const header = Buffer.from(await bytes.read(0, HEADER_BYTES));
  expect([header.readUInt32LE(28), header.readUInt16LE(32), header.readUInt16LE(34)]).toEqual([16_000, 1, 8]);
  expect(durationS).toBe(0.5);
});

test.each([
  ['no format', riff([chunk('data', audio)]), /`fmt ` chunk/],
  [
    'an incomplete format',
    riff([chunk('fmt ', whole.subarray(20, 30)), chunk('data', audio)]),
    /`fmt ` chunk/,
  ],
  ['no samples chunk', riff([format]), /`data` chunk/],
  ['only a beginning', whole.subarray(0, 14), /`fmt ` chunk/],
])('%s is an error', async (_, file, detail) => {
  await expect(correctedWav(bytesOf(file))).rejects.toMatchObject({
    issue: { kind: 'bad-container', container: 'wav', detail: expect.stringMatching(detail) },
  });
});

test('a file of many small chunks ends the search', async () => {
  const many = riff(Array.from({ length: 5000 }, () => chunk('junk', '')));
  await expect(correctedWav(bytesOf(many))).rejects.toMatchObject({ issue: { kind: 'bad-container' } });
});
