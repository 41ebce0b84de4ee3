import { copyFile, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  type FakeVideoUpstream,
  startFakeVideoUpstream,
  videoRecord,
} from '../../../../test/doubles/fake-video-upstream.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import { type ClipRecipe, makeClips } from '../../../../tools/harness/media/video-files.ts';
import { ServiceError } from '../../../contract/core/error.ts';
import { Secret } from '../../../contract/core/secret.ts';
import type { ClipFacts, ExtensionRequest, VideoEngine } from '../../../contract/engines/video.ts';
import { type ClipCutter, clipCutter } from '../../../media/clips/clip-cutter.ts';
import { clipReader } from '../../../media/clips/clip-reader.ts';
import { upstreamVideoEngine } from './engine.ts';

const never = new AbortController().signal;
const SHAPE = { scene: 'pan', videoCodec: 'avc', width: 320, height: 320, fps: 24 } as const;
/** The clip, and the response of the model: two seconds, preceded by five frames of the clip. */
const CLIP: ClipRecipe = { ...SHAPE, name: 'clip.mp4', audioCodec: 'aac', seconds: 3 };
const GENERATED: ClipRecipe = { ...SHAPE, name: 'made.mp4', audioCodec: 'aac', seconds: 53 / 24 };

const tools = { clips: clipReader({ environment: {} }), cutter: clipCutter({ environment: {} }) };
let folder: string;
let facts: ClipFacts;
let generated: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voice-service-'));
  const [clip = '', segment = ''] = await makeClips(folder, [CLIP, GENERATED]);
  facts = await tools.clips.measure(clip, 'video', never);
  generated = new Uint8Array(await readFile(segment));
  return async () => {
    await Promise.all([tools.clips.close(), tools.cutter.close()]);
    await rm(folder, { recursive: true });
  };
});

/** Copies the clip. Used where the test does not depend on its content, because cutting a clip takes a second. */
const copyingCutter: ClipCutter = {
  async cut(path, to) {
    await copyFile(path, to);
    return { width: 320, height: 320, frames: 48, seconds: 2, audio: true };
  },
  close: () => Promise.resolve(),
};

let upstream: FakeVideoUpstream;
let log: RecordingLogger;
/** Folder of the input and output files. */
let dir: string;
beforeEach(async () => {
  upstream = startFakeVideoUpstream();
  upstream.content = generated;
  log = new RecordingLogger();
  dir = await tempDir();
  await copyFile(join(folder, CLIP.name), join(dir, 'input'));
  return () => upstream.close();
});

function createEngine({
  timeoutMs,
  cutter = copyingCutter,
  ...fields
}: {
  apiKey?: Secret;
  tailSeconds?: number;
  timeoutMs?: number;
  cutter?: ClipCutter;
} = {}) {
  const engine = upstreamVideoEngine({
    ...tools,
    cutter,
    settings: {
      kind: 'upstream',
      baseUrl: upstream.baseUrl,
      apiKey: undefined,
      model: 'own',
      tailSeconds: 1,
      contextFrames: 5,
      audio: true,
      fields: { seed: '7' },
      ...fields,
    },
    log,
    pollMs: 5,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  onTestFinished(() => engine.close());
  return engine;
}

/** Extends the clip by two seconds. Saved states are appended to `savedStates`. */
function extend(
  engine: VideoEngine,
  {
    savedState,
    savedStates = [],
    signal = never,
    remember = async (state) => void savedStates.push(state),
  }: {
    savedState?: string;
    savedStates?: string[];
    signal?: AbortSignal;
    remember?: (state: string) => Promise<void>;
  } = {},
) {
  const request: ExtensionRequest = {
    video: 'video_1' as ExtensionRequest['video'],
    clip: join(dir, 'input'),
    facts,
    prompt: 'on and on',
    seconds: 2,
    width: 320,
    height: 320,
    audio: true,
    savedState,
  };
  return engine.extend(request, { to: join(dir, 'segment'), saveState: remember }, signal);
}

const requestsWith = (method: string) => upstream.seen.filter((seen) => seen.method === method);

describe('a segment', () => {
  it('consists of the generated frames without those of the clip', async () => {
    const savedStates: string[] = [];
    const segment = await extend(
      createEngine({ cutter: tools.cutter, apiKey: new Secret('key-of-upstream') }),
      { savedStates },
    );
    expect(segment).toEqual({ width: 320, height: 320, seconds: 2, audio: true });
    const measured = await tools.clips.measure(join(dir, 'segment'), 'video', never);
    expect(measured).toMatchObject({ frames: 48, width: 320, height: 320, videoCodec: 'avc' });
    expect(savedStates).toEqual(['video_gen_1']);
    const [post] = requestsWith('POST');
    expect(post?.headers.authorization).toBe('Bearer key-of-upstream');
    expect(post?.fields).toEqual({
      model: 'own',
      prompt: 'on and on',
      size: '320x320',
      fps: '24',
      num_frames: '53',
      generate_sound: 'true',
      seed: '7',
    });
    expect(upstream.jobs.get('video_gen_1')).toMatchObject({ looks: 3, deleted: false });
    expect((await readdir(dir)).toSorted()).toEqual(['input', 'segment']);
  });

  it('is shorter if the model generated fewer frames', async () => {
    const [short = ''] = await makeClips(dir, [{ ...SHAPE, name: 'short.mp4', seconds: 40 / 24 }]);
    upstream.content = new Uint8Array(await readFile(short));
    const segment = await extend(createEngine({ cutter: tools.cutter }));
    expect(segment.seconds).toBeCloseTo(35 / 24, 9);
    expect(segment.audio).toBe(false);
  });

  it('is requested with the end of the clip', async () => {
    await extend(createEngine({ cutter: tools.cutter }));
    const [post] = requestsWith('POST');
    expect(post?.reference).toMatchObject({ name: 'clip.mp4', type: 'video/mp4' });
    await writeFile(join(dir, 'reference'), post?.reference?.bytes ?? '');
    const sent = await tools.clips.measure(join(dir, 'reference'), 'video', never);
    expect(sent).toMatchObject({ frames: 24, width: 320, height: 320 });
  });

  it('is requested with the last frame if the model expects an image', async () => {
    await extend(createEngine({ cutter: tools.cutter, tailSeconds: 0 }));
    const [post] = requestsWith('POST');
    expect(post?.reference).toMatchObject({ name: 'frame.webp', type: 'image/webp' });
    expect(post?.reference?.bytes.subarray(0, 4).toString()).toBe('RIFF');
    expect((await readdir(dir)).toSorted()).toEqual(['input', 'segment']);
  });
});

describe('a saved job', () => {
  it('is resumed without a new request', async () => {
    upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 0, deleted: false });
    const savedStates: string[] = [];
    await extend(createEngine(), { savedState: 'video_gen_9', savedStates });
    expect(requestsWith('POST')).toEqual([]);
    expect(savedStates).toEqual([]);
  });

  it('is submitted again if the server has lost it', async () => {
    const savedStates: string[] = [];
    await extend(createEngine(), { savedState: 'video_gen_9', savedStates });
    expect(savedStates).toEqual(['video_gen_1']);
  });

  it('continues on the server when the caller aborts', async () => {
    const leave = new AbortController();
    upstream.look(({ id }) => {
      leave.abort(new Error('left'));
      return Response.json(videoRecord(id, 'in_progress'));
    });
    await expect(extend(createEngine(), { signal: leave.signal })).rejects.toThrow('left');
    expect(requestsWith('DELETE')).toEqual([]);
  });

  it('is deleted on the server, or cancelled if it cannot be deleted', async () => {
    for (const id of ['video_gen_1', 'video_gen_2']) upstream.jobs.set(id, { id, looks: 0, deleted: false });
    const engine = createEngine();
    await engine.deleteRemoteJob('video_gen_1');
    expect(upstream.jobs.get('video_gen_1')?.deleted).toBe(true);
    upstream.deleteStatus = 409;
    await engine.deleteRemoteJob('video_gen_2');
    expect(upstream.jobs.get('video_gen_2')?.deleted).toBe(true);
    expect(requestsWith('POST').map(({ path }) => path)).toEqual(['/v1/videos/video_gen_2/cancel']);
  });

  it.each(['overloaded', 'rate_limited'] as const)(
    'continues on the server when this process has no capacity: %s',
    async (kind) => {
      const busy = { ...copyingCutter, cut: () => Promise.reject(new ServiceError(kind, 'Too much to do.')) };
      upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 2, deleted: false });
      const remembered = { savedState: 'video_gen_9' };
      await expect(extend(createEngine({ cutter: busy }), remembered)).rejects.toMatchObject({ kind });
      expect(requestsWith('DELETE')).toEqual([]);
      expect(await extend(createEngine(), remembered)).toMatchObject({ seconds: 2 });
      expect(requestsWith('POST')).toEqual([]);
    },
  );

  it('is not deleted when the server is unavailable', async () => {
    upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 2, deleted: false });
    upstream.content = () => new Response(null, { status: 502 });
    const gone = extend(createEngine(), { savedState: 'video_gen_9' });
    await expect(gone).rejects.toMatchObject({ kind: 'overloaded' });
    expect(upstream.jobs.get('video_gen_9')?.deleted).toBe(false);
  });

  it('is not deleted when the local disk is full', async () => {
    // A device without space.
    await symlink('/dev/full', join(dir, 'segment.generated'));
    upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 2, deleted: false });
    const full = extend(createEngine(), { savedState: 'video_gen_9' });
    await expect(full).rejects.toMatchObject({
      kind: 'overloaded',
      message: expect.stringContaining('storage is full'),
    });
    expect(requestsWith('DELETE')).toEqual([]);
    expect(await extend(createEngine(), { savedState: 'video_gen_9' })).toMatchObject({ seconds: 2 });
  });

  it('that the server does not know is deleted without an error', async () => {
    await createEngine().deleteRemoteJob('../models');
    expect(upstream.seen[0]?.path).toBe('/v1/videos/..%2Fmodels');
    await upstream.close();
    await createEngine().deleteRemoteJob('video_gen_1');
  });
});

describe('a failure', () => {
  const failed = (status: number, error: object) =>
    upstream.look(({ id }) => Response.json(videoRecord(id, 'failed', error), { status }));

  it.each([200, 422, 500])('of a job is reported with any HTTP status: %i', async (status) => {
    failed(status, { code: 'oom', message: 'CUDA out of memory at secret-host' });
    const error = await extend(createEngine()).catch((it) => it);
    expect(error).toMatchObject({ kind: 'upstream', code: 'upstream_error' });
    expect(error.message).not.toContain('secret-host');
    expect(await readdir(dir)).toEqual(['input']);
  });

  it('by the content policy of the server is an error of the prompt', async () => {
    failed(400, { code: 'guardrail_blocked', message: 'no' });
    const policy = { kind: 'invalid_request', code: 'content_policy_violation', param: 'prompt' };
    await expect(extend(createEngine())).rejects.toMatchObject(policy);
    upstream.take(() => Response.json({ error: { code: 'content_policy_violation' } }, { status: 400 }));
    await expect(extend(createEngine())).rejects.toMatchObject(policy);
    const echo = { error: { code: 'bad_size', message: 'no' }, input: { prompt: 'a safety briefing' } };
    upstream.take(() => Response.json(echo, { status: 422 }));
    await expect(extend(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
  });

  it('of the submission is mapped by its status', async () => {
    upstream.take(() => Response.json({ detail: 'queue full' }, { status: 503 }));
    await expect(extend(createEngine())).rejects.toMatchObject({ kind: 'overloaded' });
    upstream.take(() => Response.json({ detail: 'no' }, { status: 400 }));
    await expect(extend(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
    upstream.take(() => Response.json({ id: '../x' }));
    await expect(extend(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
  });

  it('of a status request is retried', async () => {
    upstream.look(({ looks, id }) => {
      if (looks < 3) return new Response('Bad gateway', { status: 500 });
      return looks < 5 ? Response.json(videoRecord(id, 'in_progress')) : undefined;
    });
    expect(await extend(createEngine())).toMatchObject({ seconds: 2 });
  });

  it('of a download is retried', async () => {
    let answers = 0;
    upstream.content = () => {
      answers += 1;
      return answers < 3 ? new Response(null, { status: 502 }) : new Response(generated);
    };
    expect(await extend(createEngine())).toMatchObject({ seconds: 2 });
    expect(requestsWith('POST')).toHaveLength(1);
  });

  it('of every status request fails the job', async () => {
    upstream.look(() => new Response('{}', { status: 500 }));
    await expect(extend(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
    expect(upstream.jobs.get('video_gen_1')).toMatchObject({ looks: 9 });
  });

  it('occurs if the server loses a job that it has just accepted', async () => {
    upstream.look(() => Response.json({ detail: 'Video not found' }, { status: 404 }));
    await expect(extend(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
    expect(requestsWith('POST')).toHaveLength(1);
  });

  it('occurs if the response is not a video', async () => {
    upstream.content = new TextEncoder().encode('<html>');
    await expect(extend(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
    upstream.content = () => new Response('{}', { status: 422 });
    await expect(extend(createEngine())).rejects.toMatchObject({ kind: 'upstream' });
    expect(await readdir(dir)).toEqual(['input']);
  });

  it('occurs if the job exceeds the time limit', async () => {
    upstream.look(({ id }) => Response.json(videoRecord(id, 'in_progress')));
    upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 0, deleted: false });
    const slow = extend(createEngine({ timeoutMs: 100 }), { savedState: 'video_gen_9' });
    await expect(slow).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('to save the state deletes the job on the server', async () => {
    const remember = () => Promise.reject(new Error('another runner has it'));
    await expect(extend(createEngine(), { remember })).rejects.toThrow('another runner has it');
    expect(upstream.jobs.get('video_gen_1')?.deleted).toBe(true);
  });
});

it('neither errors nor logs contain the prompt', async () => {
  upstream.take(() => Response.json({ error: { message: 'on and on is refused' } }, { status: 500 }));
  const error = await extend(createEngine()).catch((it) => it);
  expect(error.message).not.toContain('on and on');
  expect(JSON.stringify(log.lines)).not.toContain('on and on');
});
