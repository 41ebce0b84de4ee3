import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import { type ClipRecipe, makeClips } from '../../../../tools/harness/media/video-files.ts';
import { PATIENCE } from '../../../../tools/harness/patience.ts';
import type { ClipFacts, ExtensionRequest } from '../../../contract/engines/video.ts';
import { isRunning } from '../../../kit/process/host-id.ts';
import { clipReader } from '../../../media/clips/clip-reader.ts';
import { type ContinuationOptions, continuationEngine } from './engine.ts';

const entry = fileURLToPath(new URL('../../../../test/doubles/fake-continuation-worker.ts', import.meta.url));
const never = new AbortController().signal;
const FACTS: ClipFacts = {
  container: 'mp4',
  videoCodec: 'avc',
  width: 320,
  height: 320,
  fps: 24,
  frames: 48,
  durationS: 2,
  audio: undefined,
  lengthBytes: 1,
};

function createEngine(options: Partial<ContinuationOptions> = {}) {
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

/** Runs the fake process with a behaviour. `started` resolves with its process id. */
async function runFake(behaviour: string, options: Partial<ContinuationOptions> = {}, signal = never) {
  const { engine, log } = createEngine({ entry, ...options });
  const to = join(await tempDir(), 'segment');
  const segment = engine.extend(requestOf(behaviour), { to, saveState: async () => {} }, signal);
  // Handled later by the test.
  segment.catch(() => undefined);
  const started = async () => {
    await vi.waitFor(() => access(to), PATIENCE);
    return vi.waitFor(
      async () => Number(await readFile(to, 'utf8')) || Promise.reject(new Error('not yet')),
      PATIENCE,
    );
  };
  return { engine, log, segment, started };
}

describe('the process of a segment', () => {
  it('exits when it is finished', async () => {
    const { segment, started } = await runFake('done');
    expect(await segment).toEqual({ width: 320, height: 320, seconds: 4, audio: true });
    expect(isRunning(await started())).toBe(false);
  });

  it('is killed when the request is aborted, even while it is busy', async () => {
    const leave = new AbortController();
    const { segment, started } = await runFake('compute', {}, leave.signal);
    const pid = await started();
    leave.abort(new Error('left'));
    await expect(segment).rejects.toThrow('left');
    expect(isRunning(pid)).toBe(false);
  });

  it('is killed when the engine is closed', async () => {
    const { engine, segment, started } = await runFake('compute');
    const pid = await started();
    await engine.close();
    expect(isRunning(pid)).toBe(false);
    await expect(segment).rejects.toMatchObject({ kind: 'overloaded' });
    const late = engine.extend(requestOf('done'), { to: '/none', saveState: async () => {} }, never);
    await expect(late).rejects.toMatchObject({ kind: 'overloaded' });
  });

  it('fails the request when it crashes or exceeds its memory limit', async () => {
    const died = await runFake('die');
    await expect(died.segment).rejects.toMatchObject({ kind: 'internal', code: 'worker_crashed' });
    const grown = await runFake('grow', { memoryLimitBytes: 256 * 1024 * 1024 });
    await expect(grown.segment).rejects.toMatchObject({ kind: 'internal', code: 'worker_crashed' });
    expect(grown.log.lines).toMatchObject([{ level: 'warn', fields: { bytes: expect.any(Number) } }]);
    expect(isRunning(await grown.started())).toBe(false);
  });

  it('is restarted once after a crash', {}, async () => {
    const { segment, log } = await runFake('die-once');
    expect(await segment).toMatchObject({ seconds: 4 });
    expect(log.lines).toMatchObject([{ level: 'warn' }]);
  });

  it('is killed when it exceeds its time limit', async () => {
    const { segment } = await runFake('compute', { timeoutMs: 500 });
    await expect(segment).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('logs the cause of a failure without returning it', async () => {
    const { segment, log } = await runFake('fail');
    await expect(segment).rejects.toMatchObject({ kind: 'internal', code: 'generation_failed' });
    expect(log.lines).toMatchObject([{ level: 'error', error: { name: 'UnusableClipError' } }]);
  });

  it('is not started for an aborted request', async () => {
    const { engine } = createEngine({ entry });
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

describe('a generated segment', () => {
  it('has the requested size, duration and audio', async () => {
    const folder = await tempDir();
    const clips = clipReader({ environment: {} });
    onTestFinished(() => clips.close());
    const { engine, log } = createEngine();
    for (const [index, clip] of (await makeClips(folder, CLIPS)).entries()) {
      const facts = await clips.measure(clip, 'video', never);
      const work = { to: join(folder, `segment-${index}`), saveState: async () => {} };
      const size = { width: 256, height: 256 };
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

  it('cannot be generated from a file that is not a clip', async () => {
    const { engine, log } = createEngine();
    const work = { to: join(await tempDir(), 'segment'), saveState: async () => {} };
    const segment = engine.extend(requestOf(import.meta.filename), work, never);
    await expect(segment).rejects.toMatchObject({ kind: 'internal', code: 'generation_failed' });
    expect(log.lines).toMatchObject([{ error: { name: 'UnusableClipError' } }]);
  });
});
