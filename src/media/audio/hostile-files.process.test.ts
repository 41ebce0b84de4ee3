import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { needs } from '../../../test/harness/needs.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { ENCODED, type EncodedFiles, encodedFiles } from '../../../test/media/media-files.ts';
import { RECORDER_FILES, writeRecorderFiles } from '../../../test/media/recorder-files.ts';
import { sine, wavFile } from '../../../tools/harness/media/wav-files.ts';
import { ServiceError } from '../../contract/core/error.ts';
import type { AudioFileReader } from '../../contract/engines/audio-file.ts';
import { seededRandom } from '../../kit/math/seeded-random.ts';
import { type AudioFileReaderOptions, audioFileReader } from './audio-file-reader.ts';

const FAKE = join(import.meta.dirname, '../../../test/doubles/fake-media-worker.ts');
const RATE_HZ = 16_000;
const MONO = { kind: 'int', bits: 16, rateHz: RATE_HZ, channels: 1 } as const;
const never = new AbortController().signal;

const hasEncoder = Bun.which('ffmpeg') !== null;
let files: EncodedFiles;
beforeAll(async () => {
  files = await encodedFiles(0.4);
  if (hasEncoder) await writeRecorderFiles(files.folder);
});
afterAll(() => files.remove());

function newReader(options: Omit<AudioFileReaderOptions, 'environment'> = {}): AudioFileReader {
  const reader = audioFileReader({ environment: {}, ...options });
  onTestFinished(() => reader.close());
  return reader;
}

async function stored(name: string, content: Uint8Array = Uint8Array.of(1)): Promise<string> {
  const path = join(await tempDir(), name);
  await writeFile(path, content);
  return path;
}

/** Decoded duration of a file in seconds. */
async function secondsOf(reader: AudioFileReader, path: string): Promise<number> {
  const { samples } = await reader.openFile(path, RATE_HZ, 'file', never);
  let total = 0;
  for await (const block of samples) {
    if (!block.every((value) => Math.abs(value) < 20)) throw new Error('a sample is out of bounds');
    total += block.length;
  }
  return total / RATE_HZ;
}

describe('a decoder that fails in one of these ways is a 400', () => {
  test.each([
    ['silent', /could not be decoded: no output for 0.2 s/],
    ['opened-silent', /no output for/],
    ['spin', /no output for/],
    ['memory', /exceeded 300 MiB of memory/],
    ['exit', /could not be decoded/],
    ['opened-segfault', /could not be decoded/],
    ['opened-huge', /could not be decoded/],
  ])('%s', async (doing, message) => {
    // Excludes the start; decoders that end by themselves get enough time on a loaded machine.
    const stallTimeoutMs = /silent|spin/.test(doing) ? 200 : 30_000;
    const reader = newReader({ entry: FAKE, stallTimeoutMs, memoryLimitBytes: 300 * 2 ** 20 });
    await expect(secondsOf(reader, await stored(doing))).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'file',
      message: expect.stringMatching(message),
    });
  });

  test('a decoder that cannot be started is a server error', async () => {
    const reader = newReader({ entry: '/nowhere/worker.ts' });
    await expect(secondsOf(reader, await stored('any'))).rejects.toMatchObject({ kind: 'overloaded' });
  });

  test('a process that the system does not start is a server error', async () => {
    const spawn = vi.spyOn(Bun, 'spawn').mockImplementation(() => {
      throw new Error('EAGAIN');
    });
    onTestFinished(() => spawn.mockRestore());
    const path = await stored('tone.wav', wavFile(MONO, sine(0.1, RATE_HZ)));
    const reader = newReader({ maxOpen: 1 });
    await expect(secondsOf(reader, path)).rejects.toMatchObject({ kind: 'overloaded' });
    spawn.mockRestore();
    expect(await secondsOf(reader, path)).toBe(0.1);
  });
});

/** Ids of processes with a marker in their environment. */
async function marked(mark: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.includes(mark) ? [pid] : [];
    }),
  );
  return found.flat();
}

/** Waits until none of the processes exists. */
function gone(pids: readonly number[], mark: string): Promise<boolean> {
  return vi.waitUntil(async () => (await marked(mark)).every((pid) => !pids.includes(pid)), {});
}

test('a killed decoder fails only its request, a killed spare process fails none, and close() ends all', async () => {
  const mark = `MARK=${crypto.randomUUID()}`;
  const reader = audioFileReader({ environment: { MARK: mark } });
  const tone = sine(6, RATE_HZ);
  const path = await stored('long.wav', wavFile(MONO, tone));
  const victim = await reader.openFile(path, RATE_HZ, 'file', never);
  await victim.samples.next();
  const both = await marked(mark);
  expect(both).toHaveLength(2);
  for (const pid of both) process.kill(pid, 'SIGKILL');
  await gone(both, mark);
  const rest = (async () => {
    for await (const _ of victim.samples);
  })();
  await expect(rest).rejects.toMatchObject({
    kind: 'invalid_request',
    message: expect.stringMatching(/could not be decoded/),
  });
  expect(await secondsOf(reader, path)).toBe(6);
  await reader.close();
  expect(await marked(mark)).toEqual([]);
});

test('a spare process ends when its parent is killed', async () => {
  const mark = `MARK=${crypto.randomUUID()}`;
  const script = `
    const { audioFileReader } = await import(${JSON.stringify(join(import.meta.dirname, 'audio-file-reader.ts'))});
    audioFileReader({ environment: { MARK: ${JSON.stringify(mark)} } });
    setInterval(() => undefined, 1000);`;
  const parent = Bun.spawn([process.execPath, '-e', script], { stdio: ['ignore', 'ignore', 'ignore'] });
  const spare = await vi.waitUntil(async () => {
    const pids = await marked(mark);
    return pids.length > 0 && pids;
  });
  parent.kill('SIGKILL');
  await parent.exited;
  await gone(spare, mark);
  expect(await marked(mark)).toEqual([]);
});

type Damage = (file: Uint8Array<ArrayBuffer>, random: () => number) => Uint8Array<ArrayBuffer>;

/** Overwrites bytes at random positions in the first `reach` bytes. */
function overwrite(file: Uint8Array<ArrayBuffer>, random: () => number, count: number, reach: number) {
  const damaged = file.slice();
  for (let i = 0; i < count; i++) damaged[Math.floor(random() * reach)] = Math.floor(random() * 256);
  return damaged;
}

const DAMAGES: Readonly<Record<string, Damage>> = {
  truncation: (file, random) => file.slice(0, Math.floor(random() * file.length)),
  'a damaged header': (file, random) => overwrite(file, random, 6, Math.min(file.length, 400)),
  'scattered damage': (file, random) => overwrite(file, random, 20, file.length),
};

describe('damaged files result in audio or a 400', () => {
  const SEED = 20_261_121;
  const names = ['tone.wav', ...ENCODED.map(([name]) => name), ...RECORDER_FILES.map(({ name }) => name)];

  test.for(Object.entries(DAMAGES))('%s', async ([kind, damage], context) => {
    needs(context, hasEncoder, 'ffmpeg');
    const reader = newReader();
    const random = seededRandom(SEED);
    // Each file needs a process. Outside the deep tier, each kind of damage is tested with a different eighth of the formats.
    const first = Object.keys(DAMAGES).indexOf(kind);
    for (const name of names.filter((_, at) => (at + first) % repetitions(8, 1) === 0)) {
      const whole =
        name === 'tone.wav'
          ? wavFile({ kind: 'int', bits: 16, rateHz: 44_100, channels: 2 }, sine(0.4, 44_100))
          : new Uint8Array(await readFile(join(files.folder, name)));
      await expectSoundOrRefusal(reader, await stored(name, damage(whole, random)), name);
    }
  });

  test('random bytes after a valid beginning of each format', async () => {
    const reader = newReader({ stallTimeoutMs: 2000 });
    const random = seededRandom(SEED);
    const noise = () => Uint8Array.from({ length: 20_000 }, () => Math.floor(random() * 256));
    await expectSoundOrRefusal(reader, await stored('noise', noise()), 'noise');
    // For max random content the library searches the next WebM element at the same position forever.
    const recorded = hasEncoder ? ['ima.wav', 'pcm.aiff', 'alac.caf', 'v2.wma', 'tone.amr', 'alac.m4a'] : [];
    const encoded = ['tone.mp3', 'tone.m4a', 'tone.flac', 'tone.opus.ogg', 'tone.webm', 'tone.aac'];
    // Outside the deep tier, a third of the formats is tested.
    for (const name of [...encoded, ...recorded].filter((_, at) => at % repetitions(3, 1) === 0)) {
      const content = noise();
      content.set(new Uint8Array(await readFile(join(files.folder, name))).slice(0, 64));
      await expectSoundOrRefusal(reader, await stored(name, content), name);
    }
  });
});

async function expectSoundOrRefusal(reader: AudioFileReader, path: string, name: string): Promise<void> {
  try {
    const seconds = await secondsOf(reader, path);
    expect(seconds, name).toBeGreaterThan(0);
  } catch (error) {
    expect(error, name).toBeInstanceOf(ServiceError);
    expect(error, name).toMatchObject({ kind: 'invalid_request', param: 'file' });
  }
}
