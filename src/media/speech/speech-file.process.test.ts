import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { needs } from '../../../test/harness/needs.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { float32ToInt16 } from '../../audio/codec.ts';
import { ENCODED_FORMATS, type EncodedFormat } from '../../contract/engines/audio-encoder.ts';
import { audioFileReader } from '../audio/audio-file-reader.ts';
import { silenceFfmpeg } from '../process/ffmpeg-log.ts';
import { SpeechFile } from './speech-file.ts';

const FFPROBE = '/usr/bin/ffprobe';
const RATE_HZ = 24_000;
/** Longer delays and paddings would be heard between files that are played after each other. */
const TOLERANCE_S = 0.06;
silenceFfmpeg();

/** Speech-like: a tone that swells ten times a second, with a pause every second. */
function tone(samples: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: samples }, (_, n) => {
    const timeS = n / RATE_HZ;
    if (timeS % 1 > 0.8) return 0;
    return 0.3 * Math.sin(2 * Math.PI * 440 * timeS) * (0.6 + 0.4 * Math.sin(2 * Math.PI * 10 * timeS));
  });
}

async function encoded(
  format: EncodedFormat,
  samples: Float32Array<ArrayBuffer>,
  chunkSamples = 2400,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const pcm = new Uint8Array(float32ToInt16(samples).buffer);
  const file = await SpeechFile.open(format);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < pcm.length; at += 2 * chunkSamples) {
    chunks.push(file.encode(pcm.subarray(at, at + 2 * chunkSamples)));
  }
  chunks.push(file.finish());
  file.close();
  return chunks;
}

async function written(format: EncodedFormat, samples: Float32Array<ArrayBuffer>): Promise<string> {
  const path = join(await tempDir(), `speech.${format}`);
  await Bun.write(path, Buffer.concat(await encoded(format, samples)));
  return path;
}

async function decoded(path: string): Promise<Float32Array> {
  const reader = audioFileReader({ environment: {} });
  onTestFinished(() => reader.close());
  const { samples } = await reader.openFile(path, RATE_HZ, 'file', new AbortController().signal);
  const blocks = await Array.fromAsync(samples);
  return Float32Array.from(blocks.flatMap((block) => [...block]));
}

const LENGTHS = [2400, 24_000, 60_123, 131_072, 300_000];

test.for(ENCODED_FORMATS.flatMap((format) => LENGTHS.map((length) => [format, length] as const)))(
  '%s of %d samples has their duration in ffprobe',
  async ([format, length], context) => {
    needs(context, existsSync(FFPROBE), `ffprobe at ${FFPROBE}`);
    const path = await written(format, tone(length));
    const { stdout } = Bun.spawnSync([
      ...[FFPROBE, '-v', 'error', '-show_entries', 'format=duration,format_name:stream=codec_name'],
      ...['-of', 'json', path],
    ]);
    const { format: file, streams } = JSON.parse(stdout.toString());
    const names = { mp3: ['mp3', 'mp3'], opus: ['ogg', 'opus'], aac: ['aac', 'aac'], flac: ['flac', 'flac'] };
    expect([file.format_name, streams[0].codec_name]).toEqual(names[format]);
    // The length of a FLAC file that is sent while it grows is not in its header.
    if (format === 'flac') expect(file.duration).toBeUndefined();
    else expect(Math.abs(Number(file.duration) - length / RATE_HZ)).toBeLessThan(TOLERANCE_S);
  },
);

test.each(ENCODED_FORMATS)('%s is decoded to the samples that were encoded', async (format) => {
  const samples = tone(60_123);
  const heard = await decoded(await written(format, samples));
  const [minimum, maximum] = [samples.length, samples.length + TOLERANCE_S * RATE_HZ];
  expect(heard.length).toBeGreaterThanOrEqual(minimum - 1);
  expect(heard.length).toBeLessThanOrEqual(maximum);
  /** Power of the difference from the first samples, relative to theirs, if the encoder delays them by `delay` samples. */
  const errorAt = (delay: number, length = samples.length) => {
    let [noise, signal] = [0, 0];
    for (let n = 0; n < length; n += 1) {
      const sample = samples[n] ?? 0;
      noise += (sample - (heard[n + delay] ?? 0)) ** 2;
      signal += sample ** 2;
    }
    return noise / signal;
  };
  const errors = Array.from({ length: TOLERANCE_S * RATE_HZ }, (_, delay) => errorAt(delay, 12_000));
  const delay = errors.indexOf(Math.min(...errors));
  expect(delay).toBe({ mp3: 529, opus: 0, aac: 512, flac: 0 }[format]);
  expect(10 * Math.log10(errorAt(delay))).toBeLessThan({ mp3: -25, opus: -15, aac: -25, flac: -80 }[format]);
});

test.each(['mp3', 'aac', 'flac'] as const)(
  '%s does not depend on the length of the chunks',
  async (format) => {
    const samples = tone(30_000);
    const [once, often] = [await encoded(format, samples, 30_000), await encoded(format, samples, 77)];
    expect(Buffer.concat(often).equals(Buffer.concat(once))).toBe(true);
  },
);

test.each(ENCODED_FORMATS)(
  '%s has its first bytes after 100 ms of audio, and more with each chunk',
  async (format) => {
    const chunks = await encoded(format, tone(24_000), 2400);
    expect(chunks.every(({ length }) => length > 0)).toBe(true);
  },
);

test('the frames of aac have one length, from which players compute the duration', async () => {
  const bytes = Buffer.concat(await encoded('aac', tone(300_000)));
  const lengths = new Set<number>();
  for (let at = 0; at < bytes.length; ) {
    const length = ((bytes.readUInt8(at + 3) & 3) << 11) | (bytes.readUInt16BE(at + 4) >> 5);
    lengths.add(length);
    at += length;
  }
  expect([...lengths]).toEqual([178]);
});
