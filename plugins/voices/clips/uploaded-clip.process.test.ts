import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeWav } from '../../../src/audio/wav.ts';
import type { AudioFileReader } from '../../../src/contract/engines/audio-file.ts';
import { audioFileReader } from '../../../src/media/audio/audio-file-reader.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { ENCODED, type EncodedFiles, encodedFiles } from '../../../test/media/media-files.ts';
import { sine, type WavShape, wavFile } from '../../../tools/harness/media/wav-files.ts';
import { decodeUploadedClip } from './uploaded-clip.ts';

/** The real reader, which decodes in separate processes. */

const never = new AbortController().signal;
const WAV: WavShape = { kind: 'int', bits: 16, rateHz: 24_000, channels: 1 };
let reader: AudioFileReader;
let files: EncodedFiles;
beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env;
  reader = audioFileReader({ environment: { PATH, HOME } });
  files = await encodedFiles(15);
});
afterAll(async () => {
  await reader?.close();
  await files?.remove();
});

const clipIn = (path: string) => decodeUploadedClip(reader, path, never);
async function clipOf(bytes: Uint8Array) {
  const path = join(await tempDir(), 'clip');
  await writeFile(path, bytes);
  return clipIn(path);
}
const wavOf = (seconds: number, shape: Partial<WavShape> = {}) => {
  const full = { ...WAV, ...shape };
  return wavFile(full, sine(seconds, full.rateHz));
};

describe('a clip', () => {
  it.each(['tone.mp3', 'tone.m4a', 'tone.moov-last.m4a', 'tone.fragmented.mp4'])(
    'may have the maximum length before it was encoded as %s',
    async (name) => {
      const { info, durationS, original } = await clipIn(join(files.folder, name));
      expect(info.container).toBe(name.endsWith('mp3') ? 'mp3' : 'mp4');
      expect(durationS).toBeGreaterThan(14.98);
      expect(durationS).toBeLessThan(15.25);
      expect(original.rateHz).toBe(48_000);
    },
  );

  it.each(ENCODED.filter(([, container]) => !['mp3', 'mp4'].includes(container)))(
    'is rejected as %s (%s)',
    async (name, container) => {
      await expect(clipIn(join(files.folder, name))).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'audio_sample',
        code: 'unsupported_value',
        message: expect.stringContaining(`a ${container} file. Supported: WAV, MP3 and M4A or MP4.`),
      });
    },
  );

  it('with 16 bits is decoded losslessly at its original rate', async () => {
    const bytes = wavOf(5, { rateHz: 22_050 });
    const { durationS, resampled, original } = await clipOf(bytes);
    expect([durationS, resampled.length, original.rateHz]).toEqual([5, 80_000, 22_050]);
    expect(Buffer.compare(encodeWav(original.samples, original.rateHz), bytes)).toBe(0);
  });

  it.each<[string, Partial<WavShape>, number]>([
    ['a telephone’s', { rateHz: 8000, kind: 'mulaw', bits: 8 }, 8000],
    ['stereo, float', { kind: 'float', bits: 32, channels: 2, rateHz: 44_100 }, 44_100],
    ['very slow', { rateHz: 4000 }, 8000],
    ['very fast', { rateHz: 192_000, bits: 24 }, 48_000],
    ['the rate of the checks', { rateHz: 16_000 }, 16_000],
  ])('is decoded: %s', async (_, shape, expectedHz) => {
    const { info, durationS, original } = await clipOf(wavOf(6, shape));
    expect(info).toMatchObject({ container: 'wav', rateHz: shape.rateHz });
    expect([durationS, original.rateHz, original.samples.length]).toEqual([6, expectedHz, 6 * expectedHz]);
  });

  it.each([5, 15])('may have exactly %i s', async (seconds) => {
    expect((await clipOf(wavOf(seconds))).durationS).toBe(seconds);
  });

  it.each([
    ['4.99 s long', 4.999],
    ['0.00 s long', 1 / 24_000],
    ['longer than 15 s', 15.001],
    ['longer than 15 s', 40],
  ])('that is %s is rejected', async (words, seconds) => {
    await expect(clipOf(wavOf(seconds))).rejects.toMatchObject({
      kind: 'invalid_request',
      message: expect.stringContaining(words),
    });
  });

  it.each([
    ['two seconds that declare ten', 2, { dataBytes: 10 * 48_000 }],
    ['twenty that declare ten', 20, { dataBytes: 0xffff_fff0 }],
  ])('is measured by its decoded length: %s', async (_, seconds, claims) => {
    const clip = clipOf(wavOf(seconds, { claims }));
    await expect(clip).rejects.toMatchObject({ kind: 'invalid_request', param: 'audio_sample' });
  });

  it('of eight seconds is accepted although its header declares four hours', async () => {
    const bytes = wavOf(8, { claims: { dataBytes: 4 * 3600 * 48_000 } });
    expect((await clipOf(bytes)).durationS).toBe(8);
  });

  it('may contain NaN samples', async () => {
    const samples = sine(6, 24_000);
    samples.fill(Number.NaN, 0, 1000);
    samples.fill(Number.POSITIVE_INFINITY, 1000, 2000);
    const { original } = await clipOf(wavFile({ ...WAV, kind: 'float', bits: 32 }, samples));
    expect(original.samples.every(Number.isFinite)).toBe(true);
  });

  it.each([
    ['a text', Buffer.from('This is my voice, believe me. '.repeat(1000))],
    ['zeros', Buffer.alloc(200_000)],
    ['a truncated WAV file', Buffer.from('RIFF')],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
  ])('is rejected if it is %s', async (_, bytes) => {
    await expect(clipOf(bytes)).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'audio_sample',
      message: expect.stringMatching(/Supported: WAV, MP3 and M4A or MP4\.$|has no audio track|is damaged/),
    });
  });

  it('that is truncated is rejected as too short or damaged', async () => {
    for (const name of ['tone.mp3', 'tone.m4a']) {
      const bytes = await readFile(join(files.folder, name));
      await expect(clipOf(bytes.subarray(0, bytes.length / 5))).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'audio_sample',
      });
    }
  });

  it('is not decoded after an abort', async () => {
    await expect(
      decodeUploadedClip(reader, join(files.folder, 'tone.mp3'), AbortSignal.abort(new Error('left'))),
    ).rejects.toThrow('left');
  });
});
