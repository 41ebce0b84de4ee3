import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { metricValue } from '../../../test/harness/metric-values.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { float32ToInt16 } from '../../audio/codec.ts';
import { ENCODED_FORMATS, type EncodedFormat } from '../../contract/engines/audio-encoder.ts';
import { systemClock } from '../../kit/clock.ts';
import { createMetrics } from '../../metrics/registry.ts';
import { type AudioEncoderOptions, audioEncoder } from './audio-encoder.ts';
import { SpeechFile } from './speech-file.ts';

const FAKE = join(import.meta.dirname, '../../../test/doubles/fake-encoder-worker.ts');
const PCM = new Uint8Array(9600);
const CRASHED = { kind: 'internal', code: 'worker_crashed', status: 500 };

function start(options: Partial<AudioEncoderOptions> = {}) {
  const metrics = createMetrics(systemClock);
  const log = new RecordingLogger();
  const encoder = audioEncoder({ environment: {}, clock: systemClock, log, metrics, ...options });
  onTestFinished(async () => {
    await encoder.close();
    metrics.close();
  });
  return { encoder, metrics, log };
}

/** Whether a process exists, checked with signal 0. */
function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const pidOf = (answer: Uint8Array) => Number(Buffer.from(answer).toString());

/** Different samples for each encoding. */
const samplesOf = (index: number) =>
  new Uint8Array(
    float32ToInt16(Float32Array.from({ length: 12_000 }, (_, n) => 0.3 * Math.sin((n * (index + 3)) / 40)))
      .buffer,
  );

test('concurrent encodings of all formats have the files of separate ones', async () => {
  const { encoder, metrics } = start();
  const formats = Array.from(
    { length: 24 },
    (_, index): EncodedFormat => ENCODED_FORMATS[index % ENCODED_FORMATS.length] ?? 'mp3',
  );
  const files = await Promise.all(
    formats.map(async (format, index) => {
      const encoding = encoder.open(format, 'key');
      const pcm = samplesOf(index);
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < pcm.length; at += 4800) {
        chunks.push(await encoding.encode(pcm.subarray(at, at + 4800)));
      }
      chunks.push(await encoding.finish());
      encoding.close();
      return Buffer.concat(chunks);
    }),
  );
  for (const [index, format] of formats.entries()) {
    const file = await SpeechFile.open(format);
    const alone = Buffer.concat([file.encode(samplesOf(index)), file.finish()]);
    file.close();
    // The pages of Ogg depend on the chunks, and the serial number is random.
    if (format !== 'opus') expect(files[index]?.equals(alone)).toBe(true);
    else expect(files[index]?.subarray(0, 4).toString()).toBe('OggS');
  }
  expect(await metricValue(metrics, 'audio_encodings_open')).toBe(0);
  expect(await metricValue(metrics, 'audio_encoding_seconds_count{format="mp3"}')).toBe(30);
});

test('the process starts with the first encoding, serves all of them, and stops when it is idle', async () => {
  const { encoder } = start({ entry: FAKE, idleMs: 1 });
  const [first, second] = [encoder.open('mp3', 'key'), encoder.open('mp3', 'key')];
  const pid = pidOf(await first.encode(PCM));
  expect(pidOf(await second.encode(PCM))).toBe(pid);
  first.close();
  first.close();
  expect(pidOf(await second.finish())).toBe(pid);
  second.close();
  await expect.poll(() => alive(pid)).toBe(false);
  const third = encoder.open('mp3', 'key');
  expect(pidOf(await third.encode(PCM))).not.toBe(pid);
});

test.each([
  ['exits', 'opus', {}, 'crashed'],
  ['crashes', 'aac', {}, 'crashed'],
  ['does not answer', 'flac', { stallTimeoutMs: 100 }, 'stalled'],
] as const)(
  'a process that %s fails its encodings, and the next one works',
  async (_, format, options, reason) => {
    const { encoder, metrics, log } = start({ entry: FAKE, ...options });
    const [other, waiting] = [encoder.open('mp3', 'key'), encoder.open('flac', 'key')];
    const pid = pidOf(await other.encode(PCM));
    const failing = encoder.open(format, 'key');
    const failed = [waiting.encode(PCM), failing.encode(PCM)];
    await Promise.all(failed.map((result) => expect(result).rejects.toMatchObject(CRASHED)));
    await expect(other.encode(PCM)).rejects.toMatchObject(CRASHED);
    await expect(other.finish()).rejects.toMatchObject(CRASHED);
    for (const encoding of [other, waiting, failing]) encoding.close();
    const next = encoder.open('mp3', 'key');
    expect(pidOf(await next.encode(PCM))).not.toBe(pid);
    expect(await metricValue(metrics, 'worker_restarts_total{process="audio_encoding"}')).toBe(1);
    expect(log.lines).toMatchObject([
      { level: 'warn', message: 'encoder process exited', fields: { reason } },
    ]);
  },
);

test('a process that cannot load fails its encodings', async () => {
  const { encoder } = start({ entry: '/nowhere/worker.ts' });
  await expect(encoder.open('mp3', 'key').encode(PCM)).rejects.toMatchObject(CRASHED);
});

test('the memory of the encoders is limited per key and in total', async () => {
  const MIB = 2 ** 20;
  const { encoder } = start({ entry: FAKE, limits: { bytesPerKey: 16 * MIB, totalBytes: 20 * MIB } });
  const overloaded = { kind: 'overloaded', code: 'server_overloaded', retryAfterS: 2 };
  const flacs = [encoder.open('flac', 'a'), encoder.open('flac', 'a')];
  expect(() => encoder.open('mp3', 'a')).toThrow(
    expect.objectContaining({ ...overloaded, message: expect.stringContaining('this API key') }),
  );
  const others = Array.from({ length: 8 }, () => encoder.open('mp3', 'b'));
  expect(() => encoder.open('mp3', 'b')).toThrow(
    expect.objectContaining({ ...overloaded, message: expect.stringContaining('all API keys') }),
  );
  flacs[0]?.close();
  encoder.open('mp3', 'a').close();
  for (const encoding of [...flacs, ...others]) encoding.close();
  const more = Array.from({ length: 32 }, () => encoder.open('mp3', 'a'));
  expect(pidOf((await more.at(-1)?.encode(PCM)) ?? new Uint8Array())).toBeGreaterThan(0);
});

test('a closed encoder fails its encodings and opens no others', async () => {
  const { encoder } = start({ entry: FAKE });
  const encoding = encoder.open('mp3', 'key');
  const pid = pidOf(await encoding.encode(PCM));
  await encoder.close();
  await encoder.close();
  expect(alive(pid)).toBe(false);
  await expect(encoding.encode(PCM)).rejects.toMatchObject({ kind: 'overloaded' });
  expect(() => encoder.open('mp3', 'key')).toThrow(expect.objectContaining({ kind: 'overloaded' }));
  encoding.close();
});
