import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CHROMIUM, HAS_CHROMIUM } from '../../../test/harness/chromium.ts';
import { openChromium } from '../../../test/harness/group-servers.ts';
import { needs } from '../../../test/harness/needs.ts';
import type { NewSegment, ReadSegment, TestSegment } from '../../../test/media/write-segment.ts';
import { frameRateOf } from './frame-rate.ts';

const FFPROBE = '/usr/bin/ffprobe';
const WRITE = join(import.meta.dirname, '../../../test/media/write-segment.ts');

const SEGMENT = { scene: 'pan', width: 320, height: 180, fps: 24, frames: 36 } as const;
const SEGMENTS: Readonly<Record<string, TestSegment>> = {
  'with audio': { ...SEGMENT, audio: { rateHz: 44_100, channels: 2 } },
  'with mono audio at 16 kHz': { ...SEGMENT, frames: 12, audio: { rateHz: 16_000, channels: 1 } },
  without: { ...SEGMENT, frames: 6 },
  upright: { ...SEGMENT, width: 180, height: 320, frames: 12 },
  'at 29.97 fps': { ...SEGMENT, fps: 29.97, frames: 30 },
  'one frame': { ...SEGMENT, frames: 1 },
};

type WrittenSegment = ReadSegment & { readonly path: string };

/** All segments by name, written by one process, because its start takes longer than a segment. */
let written: ReadonlyMap<string, WrittenSegment>;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'segment-writer-'));
  const list: NewSegment[] = Object.values(SEGMENTS).map((segment, index) => ({
    path: join(folder, `${index}.mp4`),
    segment,
  }));
  const writer = Bun.spawn([process.execPath, WRITE, JSON.stringify(list)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, faults] = await Promise.all([
    new Response(writer.stdout).text(),
    new Response(writer.stderr).text(),
  ]);
  if ((await writer.exited) !== 0) throw new Error(`no segments were written: ${faults}`);
  const results = JSON.parse(said) as readonly ReadSegment[];
  written = new Map(
    Object.keys(SEGMENTS).map((name, index) => [
      name,
      { path: list[index]?.path ?? '', ...(results[index] as ReadSegment) },
    ]),
  );
  return () => rm(folder, { recursive: true });
});

function segmentOf(name: string): WrittenSegment {
  const segment = written.get(name);
  if (segment === undefined) throw new Error(`no segment '${name}'`);
  return segment;
}

/** Properties and warnings of a file according to ffprobe. */
async function probed(path: string) {
  const probe = Bun.spawn([FFPROBE, '-v', 'warning', '-show_streams', '-count_frames', '-of', 'json', path], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, warnings] = await Promise.all([
    new Response(probe.stdout).text(),
    new Response(probe.stderr).text(),
  ]);
  const { streams } = JSON.parse(said) as { streams: Record<string, unknown>[] };
  return { warnings, video: streams[0], audio: streams[1] };
}

describe('a written segment', () => {
  test.each(Object.entries(SEGMENTS))('%s', (name, segment) => {
    const { frames, seconds, tail, audio } = segmentOf(name);
    expect(frames).toBe(segment.frames);
    expect(seconds).toBeCloseTo(segment.frames / segment.fps, 3);
    expect(tail).toHaveLength(Math.min(3, segment.frames));
    for (const [index, { timeS, difference }] of tail.entries()) {
      expect(timeS).toBeCloseTo((segment.frames - tail.length + index) / segment.fps, 3);
      expect(difference).toBeLessThan(3);
    }
    if (segment.audio === undefined) expect(audio).toBeUndefined();
    else {
      expect(audio?.channels).toBe(segment.audio.channels);
      const heardS = Math.min(0.5, segment.frames / segment.fps);
      expect(Math.abs((audio?.samples ?? 0) - heardS * segment.audio.rateHz)).toBeLessThan(2);
      expect(audio?.loudness).toBeCloseTo(0.5 / Math.sqrt(2), 1);
    }
  });
});

test('has the index before the content', async () => {
  const { path } = segmentOf('without');
  const bytes = await readFile(path);
  expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
});

test('is read by ffprobe without warnings', async (context) => {
  needs(context, existsSync(FFPROBE), `ffprobe at ${FFPROBE}`);
  const { path } = segmentOf('with audio');
  const { warnings, video, audio } = await probed(path);
  expect(warnings).toBe('');
  expect(video).toMatchObject({
    codec_name: 'h264',
    profile: 'High',
    width: 320,
    height: 180,
    sample_aspect_ratio: '1:1',
    pix_fmt: 'yuv420p',
    color_range: 'tv',
    color_space: 'bt709',
    color_transfer: 'bt709',
    color_primaries: 'bt709',
    has_b_frames: 0,
    r_frame_rate: '24/1',
    start_time: '0.000000',
    duration: '1.500000',
    nb_read_frames: '36',
  });
  expect(audio).toMatchObject({
    codec_name: 'aac',
    profile: 'LC',
    sample_rate: '44100',
    channels: 2,
    duration: '1.500000',
  });
});

interface Played {
  readonly videoWidth: number;
  readonly videoHeight: number;
  readonly duration: number;
  readonly reached: number;
  readonly issue: string | null;
}

const PAGE = '<!doctype html><title>Segment</title><video src="/segment.mp4"></video>';

/** Runs in {@link PAGE}. */
const PLAY = `(async () => {
  const video = document.querySelector('video');
  const ended = new Promise((resolve) => { video.onended = resolve; });
  await video.play();
  await ended;
  const { videoWidth, videoHeight, duration, currentTime: reached, error } = video;
  return { videoWidth, videoHeight, duration, reached, issue: error && error.message };
})()`;

test('is played by Chromium to its end', async (context) => {
  needs(context, HAS_CHROMIUM, `Chromium at ${CHROMIUM}`);
  const { path } = segmentOf('with audio');
  // Over HTTP, as clients read it: for a file, Chromium would start another renderer process.
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      '/': () => new Response(PAGE, { headers: { 'content-type': 'text/html' } }),
      '/segment.mp4': () => new Response(Bun.file(path)),
    },
    fetch: () => new Response(null, { status: 404 }),
  });
  onTestFinished(() => server.stop(true));
  const browser = await openChromium(['--autoplay-policy=no-user-gesture-required']);
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(server.url.href);
  const played = (await page.evaluate(PLAY)) as Played;
  expect(played).toMatchObject({ videoWidth: 320, videoHeight: 180, issue: null });
  expect(played.duration).toBeCloseTo(1.5, 1);
  expect(played.reached).toBeCloseTo(1.5, 1);
});

test.each([
  [24, 24, 1],
  [23.976, 24_000, 1001],
  [29.97, 30_000, 1001],
  [59.94006, 60_000, 1001],
  [25.0001, 25, 1],
  [20, 20, 1],
  [27.3333, 27_333, 1000],
])('%d fps is written as %d/%d', (fps, num, den) => {
  expect(frameRateOf(fps)).toEqual({ num, den });
});
