/** Invalid voice uploads of every kind; form fields are valid unless named. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sine, type WavShape, wavFile } from '../../tools/harness/media/wav-files.ts';
import type { EncodedFiles } from './media-files.ts';

/** Fields of a form; a field can have several values, undefined omits it. */
export type HostileFields = Readonly<Record<string, string | File | readonly (string | File)[] | undefined>>;

export interface HostileUpload {
  readonly name: string;
  readonly fields: HostileFields;
  /** Expected status of the response. */
  readonly status: 400 | 413;
}

const WAV: WavShape = { kind: 'int', bits: 16, rateHz: 16_000, channels: 1 };
const file = (bytes: Uint8Array | string, name = 'clip.wav') =>
  new File([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], name);
const tone = (seconds: number, shape: Partial<WavShape> = {}) => {
  const full = { ...WAV, ...shape };
  return wavFile(full, sine(seconds, full.rateHz));
};
const filled = (value: number, kind: WavShape['kind'] = 'float') =>
  wavFile({ ...WAV, kind, bits: 32 }, new Float32Array(8 * WAV.rateHz).fill(value));

/** @param good a valid clip. @param encoded tones of 15 s. */
export async function hostileUploads(good: File, encoded: EncodedFiles): Promise<readonly HostileUpload[]> {
  const bytes = new Uint8Array(await good.arrayBuffer());
  const encodedFile = async (name: string) => new Uint8Array(await readFile(join(encoded.folder, name)));
  const mp3 = await encodedFile('tone.mp3');
  const m4a = await encodedFile('tone.m4a');
  const clips: Readonly<Record<string, Uint8Array | string>> = {
    'an empty file': '',
    'one byte': 'R',
    'a truncated header': bytes.subarray(0, 20),
    'a header without samples': tone(0),
    'one sample': tone(1 / WAV.rateHz),
    'a clip truncated after two seconds': bytes.subarray(0, 2 * 48_000),
    'two seconds that declare four hours': tone(2, { claims: { dataBytes: 4 * 3600 * 32_000 } }),
    'an hour': tone(600, { kind: 'mulaw', bits: 8, rateHz: 8000 }),
    'a text': 'This is my voice. '.repeat(5000),
    'a page': '<!doctype html><script>alert(1)</script>',
    zeros: new Uint8Array(200_000),
    'random bytes': crypto.getRandomValues(new Uint8Array(60_000)),
    'samples that are NaN': filled(Number.NaN),
    'samples that are infinite': filled(Number.POSITIVE_INFINITY),
    'samples that are huge': filled(3e38),
    silence: filled(0),
    'a tone': tone(8),
    'a header of no channels': tone(8, { claims: { channels: 0 } }),
    'a header of 60,000 channels': tone(8, { claims: { channels: 60_000 } }),
    'a header of no rate': tone(8, { claims: { rateHz: 0 } }),
    'a header of 4 GHz': tone(8, { claims: { rateHz: 0xffff_ffff } }),
    'a header of an unknown codec': tone(8, { claims: { tag: 0x1234 } }),
    'a truncated MP3': mp3.subarray(0, 3000),
    'an MP3 with noise in it': mp3.map((byte, at) => (at > 2000 ? byte ^ (at * 31) : byte)),
    'an M4A without its end': m4a.subarray(0, m4a.length / 3),
    'a FLAC file': await encodedFile('tone.flac'),
    'a WebM file': await encodedFile('tone.webm'),
  };
  return [
    ...Object.entries(clips).map(
      ([name, clip]): HostileUpload => ({ name, fields: { audio_sample: file(clip) }, status: 400 }),
    ),
    { name: 'no file', fields: { audio_sample: undefined }, status: 400 },
    { name: 'two files', fields: { audio_sample: [good, good] }, status: 400 },
    { name: 'a file in a text field', fields: { consent: good }, status: 400 },
    { name: 'a huge name', fields: { name: 'n'.repeat(60_000) }, status: 400 },
    { name: 'a NUL in a field', fields: { ref_text: 'a\0b' }, status: 400 },
    { name: 'no consent', fields: { consent: 'no' }, status: 400 },
    { name: 'a file above the size limit', fields: { audio_sample: file(tone(656)) }, status: 413 },
  ];
}
