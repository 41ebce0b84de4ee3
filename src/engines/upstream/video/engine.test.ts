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
/** The clip, and what a model makes of it: two seconds with five frames of the clip before. */
const CLIP: ClipRecipe = { ...SHAPE, name: 'clip.mp4', audioCodec: 'aac', seconds: 3 };
const MADE: ClipRecipe = { ...SHAPE, name: 'made.mp4', audioCodec: 'aac', seconds: 53 / 24 };

const tools = { clips: clipReader({ environment: {} }), cutter: clipCutter({ environment: {} }) };
let folder: string;
let facts: ClipFacts;
let made: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voice-service-'));
  const [clip = '', segment = ''] = await makeClips(folder, [CLIP, MADE]);
  facts = await tools.clips.measure(clip, 'video', never);
  made = new Uint8Array(await readFile(segment));
  return async () => {
    await Promise.all([tools.clips.close(), tools.cutter.close()]);
    await rm(folder, { recursive: true });
  };
}, 120_000);

let upstream: FakeVideoUpstream;
let log: RecordingLogger;
/** Where the engine writes. */
let place: string;
beforeEach(async () => {
  upstream = startFakeVideoUpstream();
  upstream.content = made;
  log = new RecordingLogger();
  place = await tempDir();
  await copyFile(join(folder, CLIP.name), join(place, 'input'));
  return () => upstream.close();
});

function open({
  timeLimitMs,
  cutter = tools.cutter,
  ...fields
}: {
  apiKey?: Secret;
  tailSeconds?: number;
  timeLimitMs?: number;
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
    ...(timeLimitMs !== undefined && { timeLimitMs }),
  });
  onTestFinished(() => engine.close());
  return engine;
}

/** Extends the clip by two seconds. `kept` gets what is to be remembered. */
function extend(
  engine: VideoEngine,
  {
    savedState,
    kept = [],
    signal = never,
    remember = async (state) => void kept.push(state),
  }: {
    savedState?: string;
    kept?: string[];
    signal?: AbortSignal;
    remember?: (state: string) => Promise<void>;
  } = {},
) {
  const request: ExtensionRequest = {
    video: 'video_1' as ExtensionRequest['video'],
    clip: join(place, 'input'),
    facts,
    prompt: 'on and on',
    seconds: 2,
    width: 320,
    height: 320,
    audio: true,
    savedState,
  };
  return engine.extend(request, { to: join(place, 'segment'), saveState: remember }, signal);
}

const asked = (method: string) => upstream.seen.filter((seen) => seen.method === method);

describe('a segment', () => {
  it('is made of what the model made, without the frames of the clip', { timeout: 60_000 }, async () => {
    const kept: string[] = [];
    const segment = await extend(open({ apiKey: new Secret('key-of-upstream') }), { kept });
    expect(segment).toEqual({ width: 320, height: 320, seconds: 2, audio: true });
    const measured = await tools.clips.measure(join(place, 'segment'), 'video', never);
    expect(measured).toMatchObject({ frames: 48, width: 320, height: 320, videoCodec: 'avc' });
    expect(kept).toEqual(['video_gen_1']);
    const [post] = asked('POST');
    expect(post?.headers.authorization).toBe('Bearer key-of-upstream');
    expect(post?.fields).toEqual({
      ...{ model: 'own', prompt: 'on and on', size: '320x320', fps: '24', num_frames: '53' },
      ...{ generate_sound: 'true', seed: '7' },
    });
    expect(upstream.jobs.get('video_gen_1')).toMatchObject({ looks: 3, deleted: false });
    expect((await readdir(place)).toSorted()).toEqual(['input', 'segment']);
  });

  it('is shorter where the model made less', { timeout: 60_000 }, async () => {
    const [short = ''] = await makeClips(place, [{ ...SHAPE, name: 'short.mp4', seconds: 40 / 24 }]);
    upstream.content = new Uint8Array(await readFile(short));
    const segment = await extend(open());
    expect(segment.seconds).toBeCloseTo(35 / 24, 9);
    expect(segment.audio).toBe(false);
  });

  it('is asked for with the end of the clip', { timeout: 60_000 }, async () => {
    await extend(open());
    const [post] = asked('POST');
    expect(post?.reference).toMatchObject({ name: 'clip.mp4', type: 'video/mp4' });
    await writeFile(join(place, 'reference'), post?.reference?.bytes ?? '');
    const sent = await tools.clips.measure(join(place, 'reference'), 'video', never);
    expect(sent).toMatchObject({ frames: 24, width: 320, height: 320 });
  });

  it('is asked for with the last frame where a model takes pictures', { timeout: 60_000 }, async () => {
    await extend(open({ tailSeconds: 0 }));
    const [post] = asked('POST');
    expect(post?.reference).toMatchObject({ name: 'frame.webp', type: 'image/webp' });
    expect(post?.reference?.bytes.subarray(0, 4).toString()).toBe('RIFF');
    expect((await readdir(place)).toSorted()).toEqual(['input', 'segment']);
  });
});

describe('a job that was remembered', () => {
  it('goes on, and nothing is asked for again', { timeout: 60_000 }, async () => {
    upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 0, deleted: false });
    const kept: string[] = [];
    await extend(open(), { savedState: 'video_gen_9', kept });
    expect(asked('POST')).toEqual([]);
    expect(kept).toEqual([]);
  });

  it('is asked for again by a server that has lost it', { timeout: 60_000 }, async () => {
    const kept: string[] = [];
    await extend(open(), { savedState: 'video_gen_9', kept });
    expect(kept).toEqual(['video_gen_1']);
  });

  it('goes on at the server when its caller leaves', { timeout: 60_000 }, async () => {
    const leave = new AbortController();
    upstream.look(({ id }) => {
      leave.abort(new Error('left'));
      return Response.json(videoRecord(id, 'in_progress'));
    });
    await expect(extend(open(), { signal: leave.signal })).rejects.toThrow('left');
    expect(asked('DELETE')).toEqual([]);
  });

  it('is ended when it is forgotten, by a cancel where it cannot be deleted', async () => {
    for (const id of ['video_gen_1', 'video_gen_2']) upstream.jobs.set(id, { id, looks: 0, deleted: false });
    const engine = open();
    await engine.deleteRemoteJob('video_gen_1');
    expect(upstream.jobs.get('video_gen_1')?.deleted).toBe(true);
    upstream.deleteStatus = 409;
    await engine.deleteRemoteJob('video_gen_2');
    expect(upstream.jobs.get('video_gen_2')?.deleted).toBe(true);
    expect(asked('POST').map(({ path }) => path)).toEqual(['/v1/videos/video_gen_2/cancel']);
  });

  it.each(['overloaded', 'rate_limited'] as const)(
    'stays at the server when this one has no room to go on: %s',
    { timeout: 60_000 },
    async (kind) => {
      const busy = { ...tools.cutter, cut: () => Promise.reject(new ServiceError(kind, 'Too much to do.')) };
      upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 2, deleted: false });
      const remembered = { savedState: 'video_gen_9' };
      await expect(extend(open({ cutter: busy }), remembered)).rejects.toMatchObject({ kind });
      expect(asked('DELETE')).toEqual([]);
      expect(await extend(open(), remembered)).toMatchObject({ seconds: 2 });
      expect(asked('POST')).toEqual([]);
    },
  );

  it('stays at a server that is away', { timeout: 60_000 }, async () => {
    upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 2, deleted: false });
    upstream.content = () => new Response(null, { status: 502 });
    const gone = extend(open(), { savedState: 'video_gen_9' });
    await expect(gone).rejects.toMatchObject({ kind: 'overloaded' });
    expect(upstream.jobs.get('video_gen_9')?.deleted).toBe(false);
  });

  it('stays at the server when the disk is full', { timeout: 60_000 }, async () => {
    // A device that has room for nothing.
    await symlink('/dev/full', join(place, 'segment.made'));
    upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 2, deleted: false });
    const full = extend(open(), { savedState: 'video_gen_9' });
    await expect(full).rejects.toMatchObject({
      kind: 'overloaded',
      message: expect.stringContaining('no room'),
    });
    expect(asked('DELETE')).toEqual([]);
    expect(await extend(open(), { savedState: 'video_gen_9' })).toMatchObject({ seconds: 2 });
  });

  it('that nobody knows is forgotten without a word', async () => {
    await open().deleteRemoteJob('../models');
    expect(upstream.seen[0]?.path).toBe('/v1/videos/..%2Fmodels');
    await upstream.close();
    await open().deleteRemoteJob('video_gen_1');
  });
});

describe('a failure', () => {
  const failed = (status: number, error: object) =>
    upstream.look(({ id }) => Response.json(videoRecord(id, 'failed', error), { status }));

  it.each([200, 422, 500])(
    'of a job is told, whatever status it has: %i',
    { timeout: 60_000 },
    async (status) => {
      failed(status, { code: 'oom', message: 'CUDA out of memory at secret-host' });
      const error = await extend(open()).catch((it) => it);
      expect(error).toMatchObject({ kind: 'upstream', code: 'upstream_error' });
      expect(error.message).not.toContain('secret-host');
      expect(await readdir(place)).toEqual(['input']);
    },
  );

  it('by the policy of the server is the prompt’s', { timeout: 60_000 }, async () => {
    failed(400, { code: 'guardrail_blocked', message: 'no' });
    const policy = { kind: 'invalid_request', code: 'content_policy_violation', param: 'prompt' };
    await expect(extend(open())).rejects.toMatchObject(policy);
    upstream.take(() => Response.json({ error: { code: 'content_policy_violation' } }, { status: 400 }));
    await expect(extend(open())).rejects.toMatchObject(policy);
    const echo = { error: { code: 'bad_size', message: 'no' }, input: { prompt: 'a safety briefing' } };
    upstream.take(() => Response.json(echo, { status: 422 }));
    await expect(extend(open())).rejects.toMatchObject({ kind: 'upstream' });
  });

  it('of the request is what its status says', { timeout: 60_000 }, async () => {
    upstream.take(() => Response.json({ detail: 'queue full' }, { status: 503 }));
    await expect(extend(open())).rejects.toMatchObject({ kind: 'overloaded' });
    upstream.take(() => Response.json({ detail: 'no' }, { status: 400 }));
    await expect(extend(open())).rejects.toMatchObject({ kind: 'upstream' });
    upstream.take(() => Response.json({ id: '../x' }));
    await expect(extend(open())).rejects.toMatchObject({ kind: 'upstream' });
  });

  it('of a look is waited out, as the server works on', { timeout: 60_000 }, async () => {
    upstream.look(({ looks, id }) => {
      if (looks < 3) return new Response('Bad gateway', { status: 500 });
      return looks < 5 ? Response.json(videoRecord(id, 'in_progress')) : undefined;
    });
    expect(await extend(open())).toMatchObject({ seconds: 2 });
  });

  it('of a download is waited out', { timeout: 60_000 }, async () => {
    let answers = 0;
    upstream.content = () => {
      answers += 1;
      return answers < 3 ? new Response(null, { status: 502 }) : new Response(made);
    };
    expect(await extend(open())).toMatchObject({ seconds: 2 });
    expect(asked('POST')).toHaveLength(1);
  });

  it('of every look ends it', { timeout: 60_000 }, async () => {
    upstream.look(() => new Response('{}', { status: 500 }));
    await expect(extend(open())).rejects.toMatchObject({ kind: 'upstream' });
    expect(upstream.jobs.get('video_gen_1')).toMatchObject({ looks: 9 });
  });

  it('of a server that forgets what it has just taken ends it', { timeout: 60_000 }, async () => {
    upstream.look(() => Response.json({ detail: 'Video not found' }, { status: 404 }));
    await expect(extend(open())).rejects.toMatchObject({ kind: 'upstream' });
    expect(asked('POST')).toHaveLength(1);
  });

  it('is what is no video', { timeout: 60_000 }, async () => {
    upstream.content = new TextEncoder().encode('<html>');
    await expect(extend(open())).rejects.toMatchObject({ kind: 'upstream' });
    upstream.content = () => new Response('{}', { status: 422 });
    await expect(extend(open())).rejects.toMatchObject({ kind: 'upstream' });
    expect(await readdir(place)).toEqual(['input']);
  });

  it('is a job that takes too long', { timeout: 60_000 }, async () => {
    upstream.look(({ id }) => Response.json(videoRecord(id, 'in_progress')));
    upstream.jobs.set('video_gen_9', { id: 'video_gen_9', looks: 0, deleted: false });
    const slow = extend(open({ timeLimitMs: 100 }), { savedState: 'video_gen_9' });
    await expect(slow).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('to be remembered ends the job at the server', { timeout: 60_000 }, async () => {
    const remember = () => Promise.reject(new Error('another runner has it'));
    await expect(extend(open(), { remember })).rejects.toThrow('another runner has it');
    expect(upstream.jobs.get('video_gen_1')?.deleted).toBe(true);
  });
});

it('tells nobody what it was asked, and logs no prompt', { timeout: 60_000 }, async () => {
  upstream.take(() => Response.json({ error: { message: 'on and on is refused' } }, { status: 500 }));
  const error = await extend(open()).catch((it) => it);
  expect(error.message).not.toContain('on and on');
  expect(JSON.stringify(log.lines)).not.toContain('on and on');
});
