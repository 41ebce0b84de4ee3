import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import { type ClipRecipe, makeClips } from '../../../../tools/harness/media/video-files.ts';
import type { ClipFacts, ExtensionRequest } from '../../../contract/engines/video.ts';
import { isRunning } from '../../../kit/process/host-id.ts';
import { clipReader } from '../../../media/clips/clip-reader.ts';
import { type ContinuationOptions, continuationEngine } from './engine.ts';

const entry = fileURLToPath(new URL('../../../../test/doubles/fake-continuation-worker.ts', import.meta.url));
const never = new AbortController().signal;
const FACTS: ClipFacts = {
  container: 'mp4',
  videoCodec: 'avc',
  ...{ width: 320, height: 320, fps: 24, frames: 48, durationS: 2 },
  audio: undefined,
  lengthBytes: 1,
};

function open(options: Partial<ContinuationOptions> = {}) {
  const log = new RecordingLogger();
  const engine = continuationEngine({ environment: {}, log, ...options });
  onTestFinished(() => engine.close());
  return { engine, log };
}

const requestOf = (clip: string, fields: Partial<ExtensionRequest> = {}): ExtensionRequest => ({
  video: 'video_1' as ExtensionRequest['video'],
  clip,
  facts: FACTS,
  prompt: 'anything',
  seconds: 4,
  width: 320,
  height: 320,
  audio: true,
  savedState: undefined,
  ...fields,
});

/** What the fake does, and the id of its process once it has begun. */
async function ordered(order: string, options: Partial<ContinuationOptions> = {}, signal = never) {
  const { engine, log } = open({ entry, ...options });
  const to = join(await tempDir(), 'segment');
  const made = engine.extend(requestOf(order), { to, saveState: async () => {} }, signal);
  // Who waits for it comes later.
  made.catch(() => undefined);
  const begun = async () => {
    await vi.waitFor(() => access(to), { timeout: 30_000 });
    return vi.waitFor(async () => Number(await readFile(to, 'utf8')) || Promise.reject(new Error('not yet')));
  };
  return { engine, log, made, begun };
}

describe('a process that makes a segment', () => {
  it('is gone when it is done', async () => {
    const { made, begun } = await ordered('done');
    expect(await made).toEqual({ width: 320, height: 320, seconds: 4, audio: true });
    expect(isRunning(await begun())).toBe(false);
  });

  it('is killed when its caller leaves, even while it computes', { timeout: 60_000 }, async () => {
    const leave = new AbortController();
    const { made, begun } = await ordered('compute', {}, leave.signal);
    const pid = await begun();
    leave.abort(new Error('left'));
    await expect(made).rejects.toThrow('left');
    expect(isRunning(pid)).toBe(false);
  });

  it('is killed when the engine is closed', { timeout: 60_000 }, async () => {
    const { engine, made, begun } = await ordered('compute');
    const pid = await begun();
    await engine.close();
    expect(isRunning(pid)).toBe(false);
    await expect(made).rejects.toMatchObject({ kind: 'overloaded' });
    const late = engine.extend(requestOf('done'), { to: '/none', saveState: async () => {} }, never);
    await expect(late).rejects.toMatchObject({ kind: 'overloaded' });
  });

  it('is told of when it dies, and when it is too large', { timeout: 60_000 }, async () => {
    const died = await ordered('die');
    await expect(died.made).rejects.toMatchObject({ kind: 'internal', code: 'worker_crashed' });
    const grown = await ordered('grow', { memoryLimitBytes: 256 * 1024 * 1024 });
    await expect(grown.made).rejects.toMatchObject({ kind: 'internal', code: 'worker_crashed' });
    expect(grown.log.lines).toMatchObject([{ level: 'warn', fields: { bytes: expect.any(Number) } }]);
    expect(isRunning(await grown.begun())).toBe(false);
  });

  it('is begun once more when it dies, since the clip need not be to blame', {
    timeout: 60_000,
  }, async () => {
    const { made, log } = await ordered('die-once');
    expect(await made).toMatchObject({ seconds: 4 });
    expect(log.lines).toMatchObject([{ level: 'warn' }]);
  });

  it('may not take longer than its limit', { timeout: 60_000 }, async () => {
    const { made } = await ordered('compute', { timeLimitMs: 500 });
    await expect(made).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('says in the log why it failed, and not to the caller', async () => {
    const { made, log } = await ordered('fail');
    await expect(made).rejects.toMatchObject({ kind: 'internal', code: 'generation_failed' });
    expect(log.lines).toMatchObject([{ level: 'error', error: { name: 'ClipFaultError' } }]);
  });

  it('is not begun for who has left', async () => {
    const { engine } = open({ entry });
    const left = AbortSignal.abort(new Error('left'));
    const work = { to: join(await tempDir(), 'segment'), saveState: async () => {} };
    await expect(engine.extend(requestOf('done'), work, left)).rejects.toThrow('left');
    await expect(access(work.to)).rejects.toThrow();
  });
});

const SCENE = { videoCodec: 'avc', width: 320, height: 320, seconds: 2 } as const;
const CLIPS: readonly ClipRecipe[] = [
  { ...SCENE, name: 'pan.mp4', scene: 'pan', fps: 24, audioCodec: 'aac', rateHz: 44_100 },
  { ...SCENE, name: 'silent.mov', scene: 'turning', fps: 30 },
];

describe('a real segment', () => {
  it('has the size, the frames and the sound that were asked for', { timeout: 300_000 }, async () => {
    const folder = await tempDir();
    const clips = clipReader({ environment: {} });
    onTestFinished(() => clips.close());
    const { engine, log } = open();
    for (const [index, clip] of (await makeClips(folder, CLIPS)).entries()) {
      const facts = await clips.measure(clip, 'video', never);
      const work = { to: join(folder, `segment-${index}`), saveState: async () => {} };
      const size = { width: 400, height: 400 };
      const segment = await engine.extend(requestOf(clip, { facts, ...size }), work, never);
      expect(segment).toEqual({ ...size, seconds: 4, audio: true });
      const measured = await clips.measure(work.to, 'video', never);
      const expected = { container: 'mp4', videoCodec: 'avc', ...size, frames: 4 * facts.fps };
      expect(measured).toMatchObject({ ...expected, audio: { codec: 'aac' } });
      expect(measured.fps).toBeCloseTo(facts.fps, 6);
      expect(measured.durationS).toBeCloseTo(4, 6);
      expect(measured.audio?.durationS).toBeCloseTo(4, 1);
      expect(measured.audio?.rateHz).toBe(index === 0 ? 44_100 : 48_000);
    }
    expect(log.lines).toEqual([]);
  });

  it('is none of what is no clip', { timeout: 60_000 }, async () => {
    const { engine, log } = open();
    const work = { to: join(await tempDir(), 'segment'), saveState: async () => {} };
    const made = engine.extend(requestOf(import.meta.filename), work, never);
    await expect(made).rejects.toMatchObject({ kind: 'internal', code: 'generation_failed' });
    expect(log.lines).toMatchObject([{ error: { name: 'ClipFaultError' } }]);
  });
});
