import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { inDeepTier, repetitions } from '../../../test/harness/tier.ts';
import {
  type Bytes,
  box,
  contentOf,
  joined,
  sized,
  withBox,
  withContent,
  withWords,
  words,
} from '../../../test/media/mp4-boxes.ts';
import { type ClipRecipe, makeClips } from '../../../tools/harness/media/video-files.ts';
import { sine, wavFile } from '../../../tools/harness/media/wav-files.ts';
import { seededRandom } from '../../kit/math/seeded-random.ts';
import { clipReader } from './clip-reader.ts';

const SMALL = { scene: 'pan', videoCodec: 'avc', width: 320, height: 304, fps: 24, seconds: 1 } as const;
const RECIPES = [
  { ...SMALL, name: 'back.mp4', audioCodec: 'aac', index: 'back' },
  { ...SMALL, name: 'front.mp4', audioCodec: 'aac' },
  { ...SMALL, name: 'fragments.mp4', index: 'fragments' },
  { ...SMALL, name: 'hevc.mov', videoCodec: 'hevc', index: 'back' },
] as const satisfies readonly ClipRecipe[];
type Name = (typeof RECIPES)[number]['name'];

const never = new AbortController().signal;
let folder: string;
const clips = {} as Record<Name, Bytes>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voice-service-clips-'));
  for (const [index, path] of (await makeClips(folder, RECIPES)).entries()) {
    clips[(RECIPES[index] as ClipRecipe).name as Name] = new Uint8Array(await readFile(path));
  }
});
// Shared, because it has a spare process that the next test can use.
const reader = clipReader({ environment: {} });
afterAll(async () => {
  await reader.close();
  await rm(folder, { recursive: true });
});

async function measured(content: Uint8Array) {
  const path = join(await tempDir(), 'clip.mp4');
  await writeFile(path, content);
  return await reader.measure(path, 'video', never);
}

const STBL = 'moov/trak/mdia/minf/stbl';
/** A sample table with `count` pictures of one byte each. */
const ofManyPictures = (file: Bytes, count: number) =>
  withWords(
    withWords(withWords(file, `${STBL}/stsz`, { 4: 1, 8: count }), `${STBL}/stts`, {
      4: 1,
      8: count,
      12: 100,
    }),
    `${STBL}/stsc`,
    { 12: count },
  );
const text = (words: string) => new Uint8Array(Buffer.from(words));
const noise = (length: number) => {
  const random = seededRandom(7);
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
};
/** The `ftyp` box, which identifies the format. */
const ftyp = (brand: string) => box('ftyp', text(brand), words(0), text(brand));

/** Nested boxes. */
function nested(type: string, depth: number): Bytes {
  const header = sized(type, 8);
  const bytes = new Uint8Array(depth * 8);
  const view = new DataView(bytes.buffer);
  for (let level = 0; level < depth; level++) {
    bytes.set(header, level * 8);
    view.setUint32(level * 8, (depth - level) * 8);
  }
  return bytes;
}

/** A baseline H.264 sequence parameter set with the given size in macroblocks (ITU-T H.264, 7.3.2.1). */
function sequenceHeader(widthBlocks: number, heightBlocks: number): Bytes {
  let bits = '';
  const golomb = (value: number) => {
    const code = (value + 1).toString(2);
    bits += '0'.repeat(code.length - 1) + code;
  };
  for (const value of [0, 0, 2, 1]) golomb(value); // SPS id, frame number and picture order counters, one reference frame.
  bits += '0';
  golomb(widthBlocks - 1);
  golomb(heightBlocks - 1);
  bits += '11001';
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0');
  const payload = Uint8Array.from(padded.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
  return joined(Uint8Array.of(0x67, 66, 0, 51), payload);
}

/** Replaces the sequence parameter set and keeps the picture parameter set. */
function withSequenceHeader(file: Bytes, header: Uint8Array): Bytes {
  return withContent(file, `${STBL}/stsd/avc1/avcC`, (old) => {
    const oldLength = new DataView(old.buffer).getUint16(6);
    const length = Uint8Array.of(header.length >> 8, header.length & 255);
    return joined(old.subarray(0, 6), length, header, old.subarray(8 + oldLength));
  });
}

const back = () => clips['back.mp4'];
const back16 = (file: Bytes, path: string, at: number, values: readonly number[]) =>
  withContent(file, path, (content) => {
    const view = new DataView(content.buffer);
    for (const [index, value] of values.entries()) view.setUint16(at + index * 2, value);
    return content;
  });

type HostileFile = readonly [name: string, file: () => Uint8Array, message: RegExp];

const HOSTILE: readonly HostileFile[] = [
  ['no bytes', () => new Uint8Array(), /is empty/],
  ['noise', () => noise(100_000), /unknown format/],
  ['a playlist', () => text('#EXTM3U\n#EXTINF:10,\nhttps://example.com/a.ts\n'), /unknown format/],
  [
    'sound',
    () => wavFile({ kind: 'int', bits: 16, rateHz: 16_000, channels: 1 }, sine(1, 16_000)),
    /is a wav file/,
  ],
  ['only an ftyp box', () => ftyp('isom'), /no video track/],
  ['audio only', () => withBox(back(), 'moov/trak', undefined), /no video track/],
  ['an end that is missing', () => clips['front.mp4'].slice(0, clips['front.mp4'].length * 0.6), /truncated/],
  ['a missing index', () => back().slice(0, back().length * 0.6), /truncated/],
  [
    'truncated fragments',
    () => clips['fragments.mp4'].slice(0, clips['fragments.mp4'].length * 0.7),
    /truncated/,
  ],
  [
    'huge pictures by the index',
    () => back16(back(), `${STBL}/stsd/avc1`, 24, [65_535, 65_535]),
    /frames of 65535x65535 pixels/,
  ],
  [
    'huge pictures by the codec',
    () => withSequenceHeader(back(), sequenceHeader(1024, 1024)),
    /could not be decoded/,
  ],
  [
    'noise as pictures',
    () => withContent(back(), 'mdat', ({ length }) => noise(length)),
    /could not be decoded/,
  ],
  ['ten thousand tracks', () => manyTracks(back(), 10_000), /has 10002 tracks; the maximum is 64/],
  [
    'more lengths of pictures than bytes',
    () => withWords(back(), `${STBL}/stts`, { 4: 0xffff_ffff }),
    /mp4 file in .* is damaged/,
  ],
  [
    'four thousand million equal pictures',
    () => withWords(back(), `${STBL}/stts`, { 4: 1, 8: 0xffff_ffff, 12: 1 }),
    /could not be decoded: |the maximum is 20000/,
  ],
  [
    'twenty thousand pictures and one',
    () => ofManyPictures(back(), 20_001),
    /too many packets; the maximum is 20000/,
  ],
  ['chunks beyond the end', () => withWords(back(), `${STBL}/stco`, { 8: 0x7fff_ffff }), /truncated/],
  [
    'a start after the end',
    () => withEdits(back(), words(0, 1, 24_000, 0x7000_0000, 0x10000)),
    /no visible frames/,
  ],
  ['indices in indices', () => joined(ftyp('isom'), nested('moov', 100_000)), /no video track/],
  [
    'pictures that are encrypted',
    () => withContent(back(), `${STBL}/stsd`, (content) => renamed(content, 'avc1', 'encv')),
    /unsupported (?:video|audio) codec \(encv\)/,
  ],
];

/** Files that are rejected for the same reasons as {@link HOSTILE}. */
const MORE_HOSTILE: readonly HostileFile[] = [
  ['one byte', () => Uint8Array.of(0), /unknown format/],
  [
    'no head of the codec',
    () => withBox(back(), `${STBL}/stsd/avc1/avcC`, undefined),
    /could not be decoded|is damaged/,
  ],
  [
    'a time of no length',
    () => withWords(back(), 'moov/trak/mdia/mdhd', { 12: 0 }),
    /mp4 file in .* is damaged/,
  ],
  [
    'pictures of a negative length',
    () => withWords(back(), `${STBL}/stts`, { 4: 1, 8: 24, 12: -1000 }),
    /could not be decoded/,
  ],
  ['pictures of 4 GB', () => withWords(back(), `${STBL}/stsz`, { 4: 0xffff_fff0 }), /could not be decoded/],
  [
    'boxes of no size',
    () => joined(ftyp('isom'), box('moov', ...Array.from({ length: 50_000 }, () => sized('free', 0)))),
    /no video track/,
  ],
  ['text', () => text('This is a letter, and no clip.\n'.repeat(50)), /unknown format/],
  ['JSON', () => text('{"id": "video_123"}'), /unknown format/],
  [
    'a picture (PNG)',
    () => joined(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10), noise(5000)),
    /unknown format/,
  ],
  ['a picture (JPEG)', () => joined(Uint8Array.of(0xff, 0xd8, 0xff, 0xe0), noise(5000)), /unknown format/],
  ['a picture (HEIC)', () => joined(ftyp('heic'), box('meta', noise(500))), /no video track/],
  ['an archive', () => joined(text('PK\u0003\u0004'), noise(5000)), /unknown format/],
  ['noise after an ftyp box', () => joined(ftyp('isom'), noise(50_000)), /no video track/],
  [
    'an index without tracks',
    () => withBox(withBox(back(), 'moov/trak', undefined), 'moov/trak', undefined),
    /no video/,
  ],
  ['a truncated index', () => back().slice(0, back().length - 900), /no video track/],
  [
    'no pictures by the codec',
    () => withSequenceHeader(back(), sequenceHeader(1, 1)),
    /could not be decoded/,
  ],
  [
    'noise as the head of the codec',
    () => withContent(back(), `${STBL}/stsd/avc1/avcC`, () => noise(60)),
    /could not be decoded/,
  ],
  [
    'nothing as pictures',
    () => withContent(back(), 'mdat', ({ length }) => new Uint8Array(length)),
    /could not be decoded/,
  ],
  [
    'pictures of no length',
    () => withWords(back(), `${STBL}/stts`, { 4: 1, 8: 24, 12: 0 }),
    /could not be decoded/,
  ],
  [
    'more sizes of pictures than bytes',
    () => withWords(back(), `${STBL}/stsz`, { 8: 0xffff_ffff }),
    /mp4 file in .* is damaged/,
  ],
  [
    'pictures without bytes',
    () => withContent(back(), `${STBL}/stsz`, (content) => content.fill(0, 12)),
    /could not be decoded/,
  ],
  [
    'chunks of four thousand million pictures',
    () => withWords(back(), `${STBL}/stsc`, { 12: 0xffff_ffff }),
    /could not be decoded: /,
  ],
  [
    'more edits than bytes',
    () => withEdits(back(), words(0, 0xffff_ffff, 1, 0, 0x10000)),
    /mp4 file in .* is damaged/,
  ],
  [
    'an index without end',
    () => joined(ftyp('isom'), sized('moov', 1), words(0x7fff_ffff, 0xffff_ffff), noise(1000)),
    /no video track/,
  ],
  [
    'an index that is packed',
    () =>
      joined(
        ftyp('qt  '),
        box('moov', box('cmov', box('dcom', text('zlib')), box('cmvd', words(0xffff_fff0), noise(500)))),
      ),
    /no video track/,
  ],
  [
    'pictures of another codec',
    () => withContent(back(), `${STBL}/stsd`, (content) => renamed(content, 'avc1', 'mp4v')),
    /unsupported (?:video|audio) codec \(mp4v\)/,
  ],
];

/** A copy with many duplicates of the first track. */
function manyTracks(file: Bytes, count: number): Bytes {
  const track = box('trak', contentOf(file, 'moov/trak'));
  return withContent(file, 'moov', (content) =>
    joined(content, ...Array.from({ length: count }, () => track)),
  );
}

function withEdits(file: Bytes, edits: Uint8Array): Bytes {
  return withContent(file, 'moov/trak', (content) => joined(box('edts', box('elst', edits)), content));
}

function renamed(content: Bytes, from: string, to: string): Bytes {
  const at = Buffer.from(content.buffer).indexOf(from);
  content.set(text(to), at);
  return content;
}

describe('a file that is not a valid clip is a 400', () => {
  const rejects = async (_: string, file: () => Uint8Array, message: RegExp) => {
    const verdict = measured(file());
    await expect(verdict).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'video',
      message: expect.stringMatching(message),
    });
  };
  test.each(HOSTILE)('%s', rejects);
  // Each file needs a process.
  inDeepTier(() => test.each(MORE_HOSTILE)('%s', rejects));
});

type Damage = (file: Bytes, random: () => number) => Bytes;

/** Overwrites bytes at random positions in a range. */
function overwritten(
  file: Bytes,
  random: () => number,
  count: number,
  [from, to]: readonly [number, number],
): Bytes {
  const damaged = file.slice();
  for (let i = 0; i < count; i++)
    damaged[from + Math.floor(random() * (to - from))] = Math.floor(random() * 256);
  return damaged;
}

/** Offset of the index. */
const indexOf = (file: Bytes) => Buffer.from(file.buffer).indexOf('moov');

const DAMAGES: readonly (readonly [name: string, damage: Damage])[] = [
  ['truncation', (file, random) => file.slice(0, Math.floor(random() * file.length))],
  ['damage at the beginning', (file, random) => overwritten(file, random, 6, [0, 100])],
  [
    'damage of the index',
    (file, random) =>
      overwritten(file, random, 6, [indexOf(file), Math.min(file.length, indexOf(file) + 1500)]),
  ],
  ['scattered damage', (file, random) => overwritten(file, random, 40, [0, file.length])],
];

test.each(DAMAGES)('a clip is measured or rejected after damage: %s', async (kind, damage) => {
  const random = seededRandom(20_261_122);
  const first = DAMAGES.findIndex(([name]) => name === kind);
  // Two kinds of clips by default, others for the next kind of damage.
  for (let count = 0; count < repetitions(2, RECIPES.length); count++) {
    const { name } = RECIPES[(first + count) % RECIPES.length] as (typeof RECIPES)[number];
    for (let round = 0; round < repetitions(1, 3); round++) {
      const verdict = await measured(damage(clips[name], random)).catch((error: unknown) => error);
      if (verdict instanceof Error)
        expect(verdict, name).toMatchObject({ kind: 'invalid_request', param: 'video' });
      else expect(verdict, name).toMatchObject({ videoCodec: expect.stringMatching(/^(avc|hevc)$/) });
    }
  }
});
