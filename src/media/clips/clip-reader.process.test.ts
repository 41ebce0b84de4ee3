import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { type ClipRecipe, makeClips } from '../../../tools/harness/media/video-files.ts';
import type { ClipFacts, ClipReader } from '../../contract/engines/video.ts';
import { clipCutter } from './clip-cutter.ts';
import { type ClipReaderOptions, clipReader } from './clip-reader.ts';

const FAKE = join(import.meta.dirname, '../../../test/doubles/fake-media-worker.ts');
const AVC = { scene: 'pan', videoCodec: 'avc', width: 320, height: 180, fps: 24, seconds: 2 } as const;
const HEVC = { ...AVC, videoCodec: 'hevc', fps: 25 } as const;
const RECIPES = [
  { ...AVC, name: 'aac.mp4', audioCodec: 'aac' },
  { ...AVC, name: 'mp3.mp4', audioCodec: 'mp3', fps: 30, rateHz: 48_000, channels: 1 },
  { ...AVC, name: 'silent.mp4', fps: 60, seconds: 1 },
  { ...AVC, name: 'ntsc.mp4', fps: 30_000 / 1001, seconds: 1.001 },
  { ...AVC, name: 'back.mp4', index: 'back', audioCodec: 'aac' },
  { ...AVC, name: 'fragments.mp4', index: 'fragments', audioCodec: 'aac' },
  { ...AVC, name: 'turned.mp4', rotation: 90 },
  { ...AVC, name: 'overhead.mp4', rotation: 180 },
  { ...AVC, name: 'one.mp4', seconds: 1 / 24 },
  { ...AVC, name: 'uneven.mp4', fps: 30, seconds: 3, uneven: true },
  { ...HEVC, name: 'hevc.mov', audioCodec: 'aac', width: 180, height: 320 },
  { ...HEVC, name: 'hevc.mp4' },
  // More pixels than the limit for complete decoding.
  { ...AVC, name: 'long.mp4', scene: 'still', width: 640, height: 360, seconds: 60 },
] as const satisfies readonly ClipRecipe[];
type Name = (typeof RECIPES)[number]['name'];

const never = new AbortController().signal;
let folder: string;
// Shared, because each has a spare process that the next test can use.
const reader = clipReader({ environment: {} });
const cutter = clipCutter({ environment: {} });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voice-service-clips-'));
  await makeClips(folder, RECIPES);
});
afterAll(async () => {
  await Promise.all([reader.close(), cutter.close()]);
  await rm(folder, { recursive: true });
});

const clip = (name: Name) => join(folder, name);

function newReader(options: Omit<ClipReaderOptions, 'environment'>): ClipReader {
  const own = clipReader({ environment: {}, ...options });
  onTestFinished(() => own.close());
  return own;
}

const facts = new Map<Name, Promise<ClipFacts>>();
/** Measures each clip once. */
function measured(name: Name): Promise<ClipFacts> {
  const found = facts.get(name) ?? reader.measure(clip(name), 'video', never);
  facts.set(name, found);
  return found;
}

describe('the properties of a clip', () => {
  test.each<[Name, Partial<ClipFacts>]>([
    [
      'aac.mp4',
      { container: 'mp4', videoCodec: 'avc', width: 320, height: 180, frames: 48, durationS: 2, fps: 24 },
    ],
    ['mp3.mp4', { frames: 60, fps: 30, durationS: 2 }],
    ['silent.mp4', { frames: 60, fps: 60, durationS: 1, audio: undefined }],
    ['back.mp4', { container: 'mp4', frames: 48, durationS: 2 }],
    ['fragments.mp4', { container: 'mp4', frames: 48, durationS: 2 }],
    ['turned.mp4', { width: 180, height: 320, frames: 48 }],
    ['overhead.mp4', { width: 320, height: 180, frames: 48 }],
    ['one.mp4', { frames: 1 }],
    [
      'hevc.mov',
      { container: 'mov', videoCodec: 'hevc', width: 180, height: 320, frames: 50, fps: 25, durationS: 2 },
    ],
    ['hevc.mp4', { container: 'mp4', videoCodec: 'hevc', frames: 50, audio: undefined }],
    ['long.mp4', { frames: 1440, fps: 24, durationS: 60 }],
  ])('%s', async (name, expected) => {
    const { fps, durationS, ...exact } = expected;
    const found = await measured(name);
    expect(found).toMatchObject({ ...exact, lengthBytes: (await stat(clip(name))).size });
    if (fps !== undefined) expect(found.fps).toBeCloseTo(fps, 2);
    if (durationS !== undefined) expect(found.durationS).toBeCloseTo(durationS, 2);
  });

  test('its audio', async () => {
    expect((await measured('aac.mp4')).audio).toMatchObject({ codec: 'aac', rateHz: 44_100, channels: 2 });
    const { audio } = await measured('mp3.mp4');
    expect(audio).toMatchObject({ codec: 'mp3', rateHz: 48_000, channels: 1 });
    expect(Math.abs((audio?.durationS ?? 0) - 2)).toBeLessThan(0.1);
  });

  const MP3_NAMES = ['.mp3', 'ms\0U'];
  test.each(MP3_NAMES.slice(0, repetitions(1, 2)))('MP3 audio with the QuickTime name %j', async (tag) => {
    const bytes = await readFile(clip('mp3.mp4'));
    const named = join(await tempDir(), 'named.mov');
    for (const [name, other] of [
      ['mp4a', tag],
      // Removes the other box that identifies MP3.
      ['esds', 'free'],
    ] as const) {
      bytes.write(other, bytes.indexOf(name), 'latin1');
    }
    await writeFile(named, bytes);
    const { audio } = await reader.measure(named, 'video', never);
    expect(audio).toEqual((await measured('mp3.mp4')).audio);
    const part = { fromS: -1, width: 320, height: 180 };
    const [one, other] = [join(folder, 'one-name'), join(folder, 'other-name')];
    await cutter.cut(clip('mp3.mp4'), one, part, never);
    await cutter.cut(named, other, part, never);
    expect(await readFile(other)).toEqual(await readFile(one));
  });

  test('a variable frame rate is reported as its mean', async () => {
    const { frames, fps, durationS } = await measured('uneven.mp4');
    expect(frames).toBe(60);
    expect(durationS).toBeCloseTo(3, 2);
    expect(fps).toBeCloseTo(20, 1);
  });

  test('29.97 fps is distinguished from 30 fps', async () => {
    expect((await measured('ntsc.mp4')).fps).toBeCloseTo(29.97, 2);
  });

  test.each([
    ['is truncated', (file: Buffer) => file.subarray(0, Math.floor(file.length * 0.97))],
    ['is damaged at its end', (file: Buffer) => file.fill(0, Math.floor(file.length * 0.97))],
  ])('a long clip, which is decoded only in part, is rejected if it %s', async (_, spoil) => {
    const path = join(await tempDir(), 'spoilt.mp4');
    await writeFile(path, spoil(await readFile(clip('long.mp4'))));
    await expect(reader.measure(path, 'video', never)).rejects.toMatchObject({
      kind: 'invalid_request',
      message: expect.stringMatching(/could not be decoded/),
    });
  });

  test('its file name is ignored', async () => {
    const path = join(await tempDir(), 'clip.txt');
    await writeFile(path, await readFile(clip('hevc.mov')));
    expect(await reader.measure(path, 'video', never)).toMatchObject({
      container: 'mov',
      videoCodec: 'hevc',
    });
  });
});

describe('a thumbnail', () => {
  test.each<[Name, number, number]>([
    ['aac.mp4', 320, 180],
    ['turned.mp4', 180, 320],
    ['long.mp4', 640, 360],
  ])('of %s is WebP, upright', async (name, width, height) => {
    const to = join(await tempDir(), 'first.webp');
    await reader.thumbnail(clip(name), to, never);
    const bytes = await readFile(to);
    expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 16)]).toEqual(['RIFF', 'WEBPVP8 ']);
    // RFC 6386, 9.1: after the frame tag and the start code.
    expect([bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff]).toEqual([width, height]);
  });

  test('of content that is not a clip is a 400', async () => {
    const path = join(await tempDir(), 'note.mp4');
    await writeFile(path, 'a note');
    const drawn = reader.thumbnail(path, `${path}.webp`, never);
    await expect(drawn).rejects.toMatchObject({ kind: 'invalid_request', param: 'video' });
  });
});

describe('a part of a clip', () => {
  function cut(name: Name, part: { fromS: number; toS?: number; width: number; height: number }) {
    const to = tempDir().then((at) => join(at, 'part.mp4'));
    return to.then(async (path) => ({ path, ...(await cutter.cut(clip(name), path, part, never)) }));
  }

  test('its end, scaled down, with audio', async () => {
    const part = await cut('aac.mp4', { fromS: -0.5, width: 160, height: 90 });
    expect(part).toMatchObject({ frames: 12, seconds: 0.5, audio: true, width: 160, height: 90 });
    const facts = await reader.measure(part.path, 'video', never);
    expect(facts).toMatchObject({
      frames: 12,
      width: 160,
      height: 90,
      videoCodec: 'avc',
      audio: { codec: 'aac' },
    });
  });

  test('the part after its start, rotated', async () => {
    const part = await cut('turned.mp4', { fromS: 0.25, toS: 1.25, width: 180, height: 320 });
    expect(part).toMatchObject({ frames: 24, seconds: 1, audio: false });
    const facts = await reader.measure(part.path, 'video', never);
    expect(facts).toMatchObject({ frames: 24, width: 180, height: 320 });
  });

  test('a variable frame rate becomes constant', async () => {
    const part = await cut('uneven.mp4', { fromS: 1, toS: 3, width: 320, height: 180 });
    expect(part).toMatchObject({ frames: 40, seconds: 2 });
  });

  test('no part beyond its end', async () => {
    await expect(cut('aac.mp4', { fromS: 5, width: 160, height: 90 })).rejects.toMatchObject({
      kind: 'invalid_request',
      message: expect.stringMatching(/no visible frames/),
    });
  });
});

describe('processes', () => {
  /** A file whose name selects the behaviour of the fake process. */
  async function doing(what: string): Promise<string> {
    const path = join(await tempDir(), what);
    await writeFile(path, 'x');
    return path;
  }

  test.each([
    ['silent', /no output for/],
    ['memory', /exceeded 300 MiB/],
    ['exit', /the decoder crashed/],
    ['segfault', /the decoder crashed/],
    ['chatter', /could not be decoded/],
  ])('content that makes its process be %s is a 400', async (what, message) => {
    const own = newReader({
      entry: FAKE,
      stallTimeoutMs: what === 'silent' ? 200 : 30_000,
      memoryLimitBytes: 300 * 2 ** 20,
    });
    const verdict = own.measure(await doing(what), 'video', never);
    await expect(verdict).rejects.toMatchObject({
      kind: 'invalid_request',
      message: expect.stringMatching(message),
    });
  });

  test('a process that exceeds its CPU time is ended', async () => {
    const own = newReader({ entry: FAKE, stallTimeoutMs: 100_000, processorLimitS: 1 });
    const verdict = own.measure(await doing('spin'), 'video', never);
    await expect(verdict).rejects.toMatchObject({ message: expect.stringMatching(/CPU time limit/) });
  });

  test('clips above the limit are rejected until one is finished', async () => {
    const own = newReader({ entry: FAKE, maxOpen: 1 });
    const abort = new AbortController();
    const clips = [await doing('silent'), await doing('silent')];
    // Either may be the first one.
    const open = clips.map((each) => own.measure(each, 'video', abort.signal));
    await expect(Promise.race(open)).rejects.toMatchObject({ kind: 'overloaded' });
    abort.abort(new Error('enough'));
    await expect(Promise.all(open.map((each) => each.catch(({ message }) => message)))).resolves.toContain(
      'enough',
    );
    const third = own.measure(await doing('exit'), 'video', never);
    await expect(third).rejects.toMatchObject({ kind: 'invalid_request' });
  });

  test('close() ends running jobs and rejects new ones', async () => {
    const own = newReader({ entry: FAKE });
    const open = own.measure(await doing('silent'), 'video', never);
    const refused = expect(open).rejects.toMatchObject({ kind: 'overloaded' });
    await own.close();
    await refused;
    await expect(own.measure(clip('aac.mp4'), 'video', never)).rejects.toMatchObject({
      kind: 'overloaded',
    });
  });
});
