import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../../test/harness/needs.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { IS_DEEP_TIER, inDeepTier, repetitions } from '../../../test/harness/tier.ts';
import { loudnessDb } from '../../../test/media/audio-checks.ts';
import { ENCODED, type EncodedFiles, encodedFiles } from '../../../test/media/media-files.ts';
import { RECOMBINED_FILES, RECORDER_FILES, writeRecorderFiles } from '../../../test/media/recorder-files.ts';
import { recording } from '../../../tools/harness/media/recordings.ts';
import { sine, type WavShape, wavFile } from '../../../tools/harness/media/wav-files.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { AudioFileInfo, AudioFileReader } from '../../contract/engines/audio-file.ts';
import { type AudioFileReaderOptions, audioFileReader } from './audio-file-reader.ts';

const RATE_HZ = 16_000;
const never = new AbortController().signal;
const badFile = (message: RegExp) => ({
  kind: 'invalid_request',
  param: 'file',
  message: expect.stringMatching(message),
});

// Every open file needs a process, and a reader has a spare one: tests share the readers.
let files: EncodedFiles;
let reader: AudioFileReader;
beforeAll(async () => {
  files = await encodedFiles(1);
  reader = audioFileReader({ environment: {} });
});
afterAll(async () => {
  await reader.close();
  await files.remove();
});

async function listen(path: string, rateHz = RATE_HZ, by = reader) {
  const { info, samples } = await by.openFile(path, rateHz, 'file', never);
  const blocks: Float32Samples[] = [];
  for await (const block of samples) blocks.push(block);
  return { info, blocks, samples: Float32Array.from(blocks.flatMap((block) => [...block])) };
}

async function stored(content: Uint8Array | string, name = 'upload'): Promise<string> {
  const path = join(await tempDir(), name);
  await writeFile(path, content);
  return path;
}

/** Adds an edit list to the track of an MP4 file whose `moov` box is last: it starts at sample `from`. */
function withEditList(file: Buffer, from: number): Buffer {
  const editBox = Buffer.alloc(36);
  editBox.writeUInt32BE(36, 0);
  editBox.write('edts', 4, 'latin1');
  editBox.writeUInt32BE(28, 8);
  editBox.write('elst', 12, 'latin1');
  editBox.writeUInt32BE(1, 20); // one entry, after version and flags
  editBox.writeUInt32BE(1000, 24); // duration, in movie time units
  editBox.writeUInt32BE(from, 28); // start, in track time units
  editBox.writeUInt32BE(0x1_0000, 32); // rate 1
  for (const box of ['moov', 'trak']) {
    const at = file.lastIndexOf(box) - 4;
    file.writeUInt32BE(file.readUInt32BE(at) + editBox.length, at);
  }
  const media = file.lastIndexOf('mdia') - 4;
  return Buffer.concat([file.subarray(0, media), editBox, file.subarray(media)]);
}

/** Runs a test with its own reader. */
async function withReader<T>(
  options: Omit<AudioFileReaderOptions, 'environment'>,
  use: (own: AudioFileReader) => Promise<T>,
): Promise<T> {
  const own = audioFileReader({ environment: {}, ...options });
  try {
    return await use(own);
  } finally {
    await own.close();
  }
}

function mean(samples: Float32Array): number {
  return samples.reduce((sum, value) => sum + value, 0) / samples.length;
}

describe('compressed files', () => {
  test.each(ENCODED)('%s', async (name, container, codec) => {
    // The file name must not matter.
    const path = await stored(await Bun.file(join(files.folder, name)).bytes(), 'upload.txt');
    const { info, samples } = await listen(path);
    expect(info).toEqual({ container, codec, rateHz: 48_000, channels: 2 } satisfies AudioFileInfo);
    // The codec may add frames before and after the tone.
    expect(samples.length).toBeGreaterThanOrEqual(RATE_HZ);
    expect(samples.length).toBeLessThanOrEqual(RATE_HZ * 1.08);
    const middle = samples.subarray(4000, 12_000);
    expect(loudnessDb(middle)).toBeCloseTo(20 * Math.log10(0.5 / Math.SQRT2), 0);
    expect(Math.abs(mean(middle))).toBeLessThan(1e-3);
    // An Ogg file ends at the position of its last page.
    if (container === 'ogg') expect(samples).toHaveLength(RATE_HZ);
  });

  test('samples before the start of an MP4 edit list are omitted', async () => {
    const whole = join(files.folder, 'tone.moov-last.m4a');
    const before = (await listen(whole, 48_000)).samples;
    const edited = withEditList(Buffer.from(await Bun.file(whole).bytes()), 1024);
    const after = (await listen(await stored(edited), 48_000)).samples;
    expect(after).toEqual(before.subarray(1024));
  });

  test('real recordings have their duration', async () => {
    const { info, samples, blocks } = await listen(recording('jfk.flac'));
    expect(info).toEqual({ container: 'flac', codec: 'flac', rateHz: 44_100, channels: 2 });
    expect(samples).toHaveLength(11 * RATE_HZ);
    expect(Math.max(...blocks.map((block) => block.length))).toBe(RATE_HZ / 2);
    const speech = await listen(recording('multilingual.mp3'));
    expect(speech.samples.length / RATE_HZ).toBeCloseTo(59.95, 2);
  });
});

describe('files of phones, exchanges and dictation machines', () => {
  let folder: string;
  const hasEncoder = Bun.which('ffmpeg') !== null;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'voice-service-recordings-'));
    if (hasEncoder) await writeRecorderFiles(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const tested = IS_DEEP_TIER
    ? RECORDER_FILES
    : RECORDER_FILES.filter(({ name }) => !RECOMBINED_FILES.has(name));
  test.for(tested)('$name', async ({ name, container, codec, rateHz, channels }, context) => {
    needs(context, hasEncoder, 'ffmpeg');
    const path = await stored(await Bun.file(join(folder, name)).bytes(), 'upload.txt');
    const { info, samples } = await listen(path);
    expect(info).toEqual({ container, codec, rateHz, channels } satisfies AudioFileInfo);
    expect(samples.length).toBeGreaterThanOrEqual(RATE_HZ * 0.95);
    expect(samples.length).toBeLessThanOrEqual(RATE_HZ * 1.1);
    const middle = samples.subarray(4000, 12_000);
    expect(loudnessDb(middle)).toBeGreaterThan(-12);
    expect(loudnessDb(middle)).toBeLessThan(-7);
  });
});

describe('recordings of phones', () => {
  test('AMR wideband', async () => {
    // Frames of 12.65 kbit/s: a header with the mode, and 253 bits (RFC 4867, 5.3).
    const frame = Uint8Array.from({ length: 33 }, (_, i) => (i === 0 ? 0x14 : (i * 37) % 256));
    const frames = Array.from({ length: 50 }, () => frame);
    const { info, samples } = await listen(
      await stored(Buffer.concat([Buffer.from('#!AMR-WB\n'), ...frames])),
    );
    expect(info).toEqual({ container: 'amr', codec: 'amr_wb', rateHz: 16_000, channels: 1 });
    expect(samples).toHaveLength(RATE_HZ);
  });

  test('a truncated last frame is omitted', async () => {
    const whole = await readFile(join(import.meta.dirname, '../../../test/fixtures/audio/tone.amr'));
    const { samples } = await listen(await stored(whole.subarray(0, whole.length - 10)));
    expect(samples).toHaveLength(48 * 320);
  });

  test.each([
    ['#!SILK_V3', /silk file .* unsupported audio codec \(SILK\)/],
    ['\x02#!SILK_V3', /unsupported audio codec \(SILK\)/],
    ['\x03ds2', /unsupported audio codec \(DSS Pro \(DS2\)\)/],
    ['#!EVS_MC1.0\n', /unsupported audio codec \(EVS\)/],
    ['#!AMR-WB_MC1.0\n', /unsupported audio codec \(AMR-WB with several channels\)/],
  ])('%j is rejected with the name of the codec and a hint', async (start, message) => {
    const path = await stored(`${start}${'\0'.repeat(500)}`);
    const rejection = await listen(path).catch((error: unknown) => error);
    expect(rejection).toBeInstanceOf(Error);
    expect(rejection).toMatchObject(badFile(message));
    expect(rejection).toMatchObject(badFile(/Convert the recording, for example with: ffmpeg -i /));
  });
});

describe('WAV formats', () => {
  const shape = { kind: 'int', bits: 16, rateHz: 16_000, channels: 1 } as const;
  const shapes: readonly WavShape[] = [
    { ...shape, bits: 8 },
    shape,
    { ...shape, bits: 24 },
    { ...shape, kind: 'float', bits: 32 },
    { ...shape, kind: 'mulaw', bits: 8 },
    { ...shape, kind: 'alaw', bits: 8 },
    { ...shape, kind: 'float', bits: 32, extensible: true, channels: 6 },
    { ...shape, channels: 64 },
  ];
  /** Other widths of these kinds. */
  const moreShapes: readonly WavShape[] = [
    { ...shape, bits: 32 },
    { ...shape, kind: 'float', bits: 64 },
    { ...shape, extensible: true },
  ];

  const shapeName = '$kind $bits, $channels channels, extensible $extensible';
  const isRead = async (kind: WavShape) => {
    const tone = sine(0.3, RATE_HZ, 440, 0.9);
    const { samples, info } = await listen(await stored(wavFile(kind, tone)));
    expect(info).toMatchObject({ container: 'wav', rateHz: RATE_HZ, channels: kind.channels });
    expect(samples).toHaveLength(tone.length);
    const tolerance = kind.bits === 8 ? 0.03 : 1e-4;
    expect(samples.every((value, i) => Math.abs(value - (tone[i] ?? 0)) < tolerance)).toBe(true);
  };
  test.each(shapes)(shapeName, isRead);
  inDeepTier(() => test.each(moreShapes)(shapeName, isRead));

  test('channels are averaged', async () => {
    const level = [0.8, -0.2, 0];
    const file = wavFile({ ...shape, channels: 3 }, (channel) =>
      new Float32Array(800).fill(level[channel] ?? 0),
    );
    const { samples } = await listen(await stored(file));
    expect(samples).toHaveLength(800);
    expect(samples.every((value) => Math.abs(value - 0.2) < 1e-4)).toBe(true);
  });

  test('192 kHz is downsampled and 4 kHz is upsampled', async () => {
    for (const rateHz of [192_000, 4000]) {
      const { info, samples } = await listen(await stored(wavFile({ ...shape, rateHz }, sine(0.5, rateHz))));
      expect(info.rateHz).toBe(rateHz);
      expect(samples).toHaveLength(RATE_HZ / 2);
      expect(loudnessDb(samples.subarray(1000, 7000))).toBeCloseTo(-9.03, 1);
    }
  });

  test('NaN becomes silence and out-of-range values are clamped', async () => {
    const odd = Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, -1e30, 1.5, 0.25);
    const { samples } = await listen(await stored(wavFile({ ...shape, kind: 'float', bits: 32 }, odd)));
    expect([...samples]).toEqual([0, 8, -8, 1.5, 0.25]);
  });

  test('a declared length beyond the end of the file is ignored', async () => {
    const tone = sine(0.5, RATE_HZ);
    const streamed = wavFile({ ...shape, claims: { dataBytes: 0xffff_ffff } }, tone);
    expect((await listen(await stored(streamed))).samples).toHaveLength(tone.length);
    const cut = wavFile(shape, tone).slice(0, 44 + 5001);
    expect((await listen(await stored(cut))).samples).toHaveLength(2500);
  });

  test('sizes that a recorder left unfinished are ignored, and the duration is that of the bytes', async () => {
    const tone = sine(0.5, RATE_HZ);
    for (const dataBytes of IS_DEEP_TIER ? [0, 100, 0x7fff_ffff, 0xffff_ffff] : [0, 100, 0xffff_ffff]) {
      const path = await stored(wavFile({ ...shape, claims: { dataBytes } }, tone));
      const { declaredS, samples } = await reader.openFile(path, RATE_HZ, 'file', never);
      expect(declaredS).toBe(0.5);
      const blocks = await Array.fromAsync(samples);
      expect(blocks.reduce((sum, { length }) => sum + length, 0)).toBe(tone.length);
    }
  });

  test('20 bits are the upper bits of 24', async () => {
    const tone = sine(0.1, RATE_HZ);
    const file = wavFile({ ...shape, bits: 24 }, tone).with(34, 20);
    expect((await listen(await stored(file))).samples).toHaveLength(tone.length);
  });

  test('a stereo recording with one inverted channel is heard', async () => {
    const tone = sine(1, RATE_HZ, 440, 0.5);
    const inverted = tone.map((value) => -value);
    const file = wavFile({ ...shape, channels: 2 }, (channel) => (channel === 0 ? tone : inverted));
    const { samples } = await listen(await stored(file));
    expect(samples).toHaveLength(tone.length);
    expect(samples.every((value, i) => Math.abs(value - (tone[i] ?? 0)) < 1e-4)).toBe(true);
  });

  test.each([
    ['no sample', wavFile(shape, new Float32Array(0)), /no audio samples/],
    [
      'an unknown codec',
      wavFile({ ...shape, claims: { tag: 0x1234 } }, sine(0.1, 16_000)),
      /unsupported audio codec \(WAVE format tag 0x1234\).*Convert the recording, for example with: ffmpeg/,
    ],
    [
      'PCM that claims to be MP3',
      wavFile({ ...shape, claims: { tag: 0x55 } }, sine(0.1, 16_000)),
      /wav file in 'file'/,
    ],
    [
      '0 Hz',
      wavFile({ ...shape, claims: { rateHz: 0 } }, sine(0.1, 16_000)),
      /sample rate of 0 Hz; supported/,
    ],
    ['4 GHz', wavFile({ ...shape, claims: { rateHz: 0xffff_ffff } }, sine(0.1, 16_000)), /4294967295 Hz/],
    [
      '0 channels',
      wavFile({ ...shape, claims: { channels: 0, blockBytes: 0 } }, sine(0.1, 16_000)),
      /'file'/,
    ],
    [
      '65535 channels',
      wavFile({ ...shape, claims: { channels: 65_535 } }, sine(0.1, 16_000)),
      /65535 channels; the maximum is 64/,
    ],
    ['only a header', wavFile(shape, sine(0.1, 16_000)).slice(0, 30), /damaged/],
  ])('%s is rejected', async (_, file, message) => {
    await expect(listen(await stored(file))).rejects.toMatchObject(badFile(message));
  });
});

describe('the native rate of a file', () => {
  const isNative = async (fileHz: number, rateHz: number) => {
    const wav = wavFile({ kind: 'int', bits: 16, rateHz: fileHz, channels: 1 }, sine(1, fileHz));
    const file = await reader.openFile(await stored(wav), 'own', 'file', never);
    expect([file.info.rateHz, file.rateHz]).toEqual([fileHz, rateHz]);
    const blocks = await Array.fromAsync(file.samples);
    expect(blocks.reduce((sum, { length }) => sum + length, 0)).toBe(rateHz);
  };
  test.each([
    [22_050, 22_050],
    [4000, 8000],
    [96_000, 48_000],
  ])('of %i Hz results in %i Hz', isNative);
  // The limits of the range.
  inDeepTier(() =>
    test.each([
      [48_000, 48_000],
      [8000, 8000],
    ])('of %i Hz results in %i Hz', isNative),
  );

  test('is reported for other containers too', async () => {
    const file = await reader.openFile(join(files.folder, 'tone.mp3'), 24_000, 'file', never);
    expect([file.info.rateHz, file.rateHz]).toEqual([48_000, 24_000]);
    await file.samples.return();
  });
});

describe('a request with allowed formats', () => {
  const formats = { containers: new Set(['wav', 'mp3']), label: 'WAV and MP3' };
  const openFor = (path: string) => reader.openFile(path, RATE_HZ, 'file', never, formats);

  test('accepts these and names them when it rejects others', async () => {
    await (await openFor(join(files.folder, 'tone.mp3'))).samples.return();
    await expect(openFor(join(files.folder, 'tone.flac'))).rejects.toMatchObject({
      ...badFile(/^The audio in 'file' is a flac file\. Supported: WAV and MP3\.$/),
      code: 'unsupported_value',
    });
    await expect(openFor(await stored('no audio'))).rejects.toMatchObject(
      badFile(/Supported: WAV and MP3\.$/),
    );
  });
});

describe('content that is not audio', () => {
  test('an empty file', async () => {
    await expect(listen(await stored(''))).rejects.toMatchObject(badFile(/^The file in 'file' is empty/));
  });

  test('text', async () => {
    await expect(listen(await stored('Not audio. '.repeat(500), 'speech.mp3'))).rejects.toMatchObject(
      badFile(/unknown audio format.*Supported: WAV, MP3, M4A/),
    );
  });

  test.each(['R', '{"a":1}'])('content that is too short to identify: %s', async (content) => {
    await expect(listen(await stored(content))).rejects.toMatchObject(badFile(/unknown audio format/));
  });

  test('a video file that ends before its list of tracks', async () => {
    const whole = await readFile(join(files.folder, 'tone.moov-last.m4a'));
    const cut = new Uint8Array(whole.subarray(0, whole.length / 2));
    await expect(listen(await stored(cut))).rejects.toMatchObject(badFile(/no audio track or is truncated/));
  });

  test('a missing file is not a request error', async () => {
    await expect(listen(join(await tempDir(), 'gone'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('playlists do not open local or remote files', async () => {
    let requests = 0;
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => {
        requests += 1;
        return new Response(Bun.file(join(files.folder, 'tone.aac')));
      },
    });
    const near = join(files.folder, 'tone.aac');
    const lists = ['tone.aac', `file:${near}`, `${server.url}tone.aac`].flatMap((target) => [
      `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXTINF:1.0,\n${target}\n#EXT-X-ENDLIST\n`,
      `ffconcat version 1.0\nfile '${target}'\n`,
    ]);
    lists.push(
      `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio ${server.port} RTP/AVP 0\n`,
      `[playlist]\nFile1=${server.url}tone.aac\nNumberOfEntries=1\n`,
    );
    try {
      for (const list of lists) {
        // Next to the file that it references.
        const path = join(files.folder, 'list.m3u8');
        await writeFile(path, list);
        await expect(listen(path)).rejects.toMatchObject(badFile(/unknown audio format/));
      }
    } finally {
      await server.stop(true);
    }
    expect(requests).toBe(0);
  });
});

describe('limits', () => {
  const mono = { kind: 'int', bits: 16, rateHz: 16_000, channels: 1 } as const;
  const MAX_S = 2;
  let limited: AudioFileReader;
  /** Files of {@link ENCODED} that are longer than the limit. */
  let long: EncodedFiles;
  beforeAll(async () => {
    limited = audioFileReader({ environment: {}, maxS: MAX_S });
    long = await encodedFiles(3);
  });
  afterAll(async () => {
    await limited.close();
    await long.remove();
  });

  test('audio that is too long is rejected when it passes the limit', async () => {
    const fits = await stored(wavFile(mono, sine(2, RATE_HZ)));
    expect((await listen(fits, RATE_HZ, limited)).samples).toHaveLength(2 * RATE_HZ);
    const path = await stored(wavFile(mono, sine(2.6, RATE_HZ)));
    const { samples } = await limited.openFile(path, RATE_HZ, 'file', never);
    for (let block = 0; block < 4; block++) expect((await samples.next()).done).toBe(false);
    await expect(samples.next()).rejects.toMatchObject(badFile(/longer than the maximum of 2 s/));
    expect(await samples.next()).toEqual({ value: undefined, done: true });
  });

  test('a declared duration above the limit is rejected before decoding', async () => {
    const tooLong = badFile(
      /^The audio in 'file' is 3 s long according to its header; the maximum is 2 s\.$/,
    );
    // Each file needs a process, so the default tier opens every second one.
    for (const [name] of ENCODED.filter((_, at) => at % repetitions(2, 1) === 0)) {
      const opened = limited.openFile(join(long.folder, name), RATE_HZ, 'file', never);
      // A stream without a header, and a file whose header was written before its end.
      if (/aac|fragmented/.test(name)) await (await opened).samples.return();
      else await expect(opened, name).rejects.toMatchObject(tooLong);
    }
  });

  test('more than four hours are rejected immediately', async () => {
    // The samples are a sparse region of the file: silence.
    const dataBytes = (4 * 3600 + 60) * 16_000;
    const path = await stored(wavFile({ ...mono, rateHz: 8000, claims: { dataBytes } }, sine(0, 8000)));
    await truncate(path, 44 + dataBytes);
    await expect(reader.openFile(path, RATE_HZ, 'file', never)).rejects.toMatchObject(
      badFile(/is 14460 s long .* maximum is 14400 s/),
    );
  });

  test('an unknown duration is not declared, and a wrong duration is detected by counting samples', async () => {
    const whole = await readFile(join(files.folder, 'tone.moov-last.m4a'));
    const durationAt = whole.lastIndexOf('mdhd') + 20; // after the version, two timestamps and the time scale
    const declaring = async (ticks: number) => {
      const file = Buffer.from(whole);
      file.writeUInt32BE(ticks, durationAt);
      return await stored(file);
    };
    const { samples } = await listen(await declaring(0xffff_ffff), RATE_HZ, limited);
    expect(samples.length).toBeGreaterThanOrEqual(RATE_HZ);
    const opened = limited.openFile(await declaring(20 * 48_000), RATE_HZ, 'file', never);
    await expect(opened).rejects.toMatchObject(badFile(/is 20 s long/));
    await withReader({ maxS: 0.5 }, async (own) => {
      const short = await declaring(100);
      await expect(listen(short, RATE_HZ, own)).rejects.toMatchObject(
        badFile(/longer than the maximum of 0.5 s/),
      );
    });
  });

  test('MP3 without a frame count declares no duration', async () => {
    const file = await readFile(join(long.folder, 'tone.mp3'));
    const name = Math.max(file.indexOf('Xing'), file.indexOf('Info'));
    expect(name).toBeGreaterThan(0);
    file.write('none', name, 'latin1');
    const { samples } = await limited.openFile(await stored(file), RATE_HZ, 'file', never);
    expect((await samples.next()).value).toHaveLength(RATE_HZ / 2);
    await samples.return();
  });

  test('files above the limit are rejected until one is closed', async () => {
    await withReader({ maxOpen: 2 }, async (own) => {
      const path = await stored(wavFile(mono, sine(1, RATE_HZ)));
      const open = () => own.openFile(path, RATE_HZ, 'file', never);
      const [one] = await Promise.all([open(), open()]);
      await expect(open()).rejects.toMatchObject({ kind: 'overloaded', retryAfterS: expect.any(Number) });
      // Never iterated, but closed.
      await one?.samples.return();
      await (await open()).samples.return();
    });
  });
});

describe('ends', () => {
  test('an abort while samples are pending ends the decoder and throws the reason', async () => {
    const path = await stored(
      wavFile({ kind: 'int', bits: 16, rateHz: 16_000, channels: 1 }, sine(5, RATE_HZ)),
    );
    const controller = new AbortController();
    const { samples } = await reader.openFile(path, RATE_HZ, 'file', controller.signal);
    await samples.next();
    const reason = new Error('client disconnected');
    const pending = samples.next();
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    await expect(samples.next()).rejects.toBe(reason);
    await expect(reader.openFile(path, RATE_HZ, 'file', controller.signal)).rejects.toBe(reason);
  });

  test('a closed reader opens no files', async () => {
    const own = audioFileReader({ environment: {} });
    await own.close();
    await own.close();
    await expect(own.openFile('/nowhere', RATE_HZ, 'file', never)).rejects.toMatchObject({
      kind: 'overloaded',
    });
  });
});
