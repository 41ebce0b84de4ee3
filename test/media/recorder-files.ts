import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedFiles } from '../../tools/harness/media/fixture-cache.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures/audio');
/** The generator has 1/8 of full scale, and stereo of mono has 3 dB less. */
const TONE = 'sine=frequency=440:sample_rate=48000:duration=1,volume=5.657';
const PHONE = ['-ar', '8000', '-ac', '1', '-af', 'volume=0.707'];

interface RecorderFile {
  readonly name: string;
  /** Arguments of FFmpeg; undefined for a file in test/fixtures/audio. */
  readonly encode?: readonly string[];
  /** As reported by the reader. */
  readonly container: string;
  readonly codec: string;
  readonly rateHz: number;
  readonly channels: number;
}

const studio = { rateHz: 48_000, channels: 2 };
const phone = { rateHz: 8000, channels: 1 };

/** Files as phones, exchanges, dictation machines and old programs record them: a tone of 440 Hz at half of full scale. */
export const RECORDER_FILES: readonly RecorderFile[] = [
  { name: 'ima.wav', encode: ['-c:a', 'adpcm_ima_wav'], container: 'wav', codec: 'adpcm_ima_wav', ...studio },
  { name: 'ms.wav', encode: ['-c:a', 'adpcm_ms'], container: 'wav', codec: 'adpcm_ms', ...studio },
  {
    name: 'g726.wav',
    encode: [...PHONE, '-c:a', 'g726', '-b:a', '32k'],
    container: 'wav',
    codec: 'adpcm_g726',
    ...phone,
  },
  { name: 'mp3.wav', encode: ['-c:a', 'libmp3lame'], container: 'wav', codec: 'mp3', ...studio },
  { name: 'rf64.wav', encode: ['-rf64', 'always'], container: 'wav', codec: 'pcm_s16le', ...studio },
  { name: 'pcm.w64', encode: [], container: 'w64', codec: 'pcm_s16le', ...studio },
  { name: 'pcm.aiff', encode: [], container: 'aiff', codec: 'pcm_s16be', ...studio },
  {
    name: 'float.aifc',
    encode: ['-f', 'aiff', '-c:a', 'pcm_f64be'],
    container: 'aiff',
    codec: 'pcm_f64be',
    ...studio,
  },
  {
    name: 'ima.aifc',
    encode: ['-f', 'aiff', '-c:a', 'adpcm_ima_qt'],
    container: 'aiff',
    codec: 'adpcm_ima_qt',
    ...studio,
  },
  { name: 'alac.caf', encode: ['-c:a', 'alac'], container: 'caf', codec: 'alac', ...studio },
  { name: 'pcm.caf', encode: ['-c:a', 'pcm_s24be'], container: 'caf', codec: 'pcm_s24be', ...studio },
  { name: 'opus.caf', encode: ['-c:a', 'libopus'], container: 'caf', codec: 'opus', ...studio },
  { name: 'alac.m4a', encode: ['-c:a', 'alac'], container: 'mp4', codec: 'alac', ...studio },
  { name: 'ima.mov', encode: ['-c:a', 'adpcm_ima_qt'], container: 'mov', codec: 'adpcm_ima_qt', ...studio },
  { name: 'v1.wma', encode: ['-c:a', 'wmav1'], container: 'asf', codec: 'wmav1', ...studio },
  { name: 'v2.wma', encode: ['-c:a', 'wmav2'], container: 'asf', codec: 'wmav2', ...studio },
  { name: 'pcm.au', encode: ['-c:a', 'pcm_mulaw'], container: 'au', codec: 'pcm_mulaw', ...studio },
  { name: 'pcm.voc', encode: [], container: 'voc', codec: 'pcm_s16le', ...studio },
  { name: 'flac.ogg', encode: ['-c:a', 'flac'], container: 'ogg', codec: 'flac', ...studio },
  { name: 'speex.ogg', encode: [...PHONE, '-c:a', 'libspeex'], container: 'ogg', codec: 'speex', ...phone },
  { name: 'ac3.mkv', encode: ['-c:a', 'ac3'], container: 'mkv', codec: 'ac3', ...studio },
  { name: 'mp3.avi', encode: ['-c:a', 'libmp3lame'], container: 'avi', codec: 'mp3', ...studio },
  {
    name: 'adpcm.flv',
    encode: ['-ar', '44100', '-c:a', 'adpcm_swf'],
    container: 'flv',
    codec: 'adpcm_swf',
    rateHz: 44_100,
    channels: 2,
  },
  { name: 'tone.gsm.wav', container: 'wav', codec: 'gsm_ms', ...phone },
  { name: 'tone.gsm', container: 'gsm', codec: 'gsm', ...phone },
  { name: 'tone.amr', container: 'amr', codec: 'amr_nb', ...phone },
  { name: 'amr.3gp', container: 'mp4', codec: 'amr_nb', ...phone },
];

/** Names of {@link RECORDER_FILES} that are files in test/fixtures/audio. */
const COPIED = RECORDER_FILES.flatMap(({ name }) => (name.startsWith('tone.') ? [name] : []));

/** Names of {@link RECORDER_FILES} whose container and whose codec other test files have too. */
export const RECOMBINED_FILES: ReadonlySet<string> = new Set([
  'mp3.wav',
  'opus.caf',
  'alac.m4a',
  'ima.mov',
  'flac.ogg',
  'amr.3gp',
]);

/** Writes all {@link RECORDER_FILES} into a folder, with the `ffmpeg` program or from the cache. */
export async function writeRecorderFiles(folder: string): Promise<void> {
  const names = RECORDER_FILES.map(({ name }) => name);
  const sources = [import.meta.filename, ...COPIED.map((name) => join(FIXTURES, name))];
  await cachedFiles(folder, { parameters: [], sources }, names, encodeFiles);
}

async function encodeFiles(folder: string): Promise<void> {
  const outputs = RECORDER_FILES.flatMap(({ name, encode }) =>
    encode === undefined ? [] : ['-map', '0', '-ac', '2', ...encode, join(folder, name)],
  );
  for (const name of COPIED) await copyFile(join(FIXTURES, name), join(folder, name));
  await ffmpeg(['-f', 'lavfi', '-i', TONE, ...outputs]);
  await ffmpeg(['-i', join(FIXTURES, 'tone.amr'), '-c', 'copy', join(folder, 'amr.3gp')]);
}

async function ffmpeg(args: readonly string[]): Promise<void> {
  const command = ['ffmpeg', '-nostdin', '-hide_banner', '-loglevel', 'error', '-y', ...args];
  const child = Bun.spawn(command, { stdio: ['ignore', 'ignore', 'pipe'] });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`ffmpeg could not encode test files: ${errors}`);
}
