import { describe, expect, it, onTestFinished, test } from 'vitest';
import type { Price } from '../../src/contract/accounts/prices.ts';
import { fakeClip } from '../../test/doubles/fake-clips.ts';
import { makeIt } from '../../test/doubles/fake-video-engine.ts';
import type { WireAnswer } from '../../test/harness/response-app.ts';
import { KEY_B } from '../../test/harness/test-app.ts';
import {
  ASKED,
  CLIP_BYTES,
  clipPart,
  EXTENSIONS,
  type VideoEntry,
  videoApp,
} from '../../test/harness/video-app.ts';
import { selfSigned } from '../../tools/harness/servers/certificate.ts';

const NOW = 1_767_323_045;
/** One credit per thousand tokens of the segment. */
const PRICE: Price = {
  endpoint: 'POST /v1/videos/extensions',
  model: 'vid-2.0',
  request: 0n,
  inputToken: 0n,
  outputToken: 1_000_000_000n,
  character: 0n,
  audioSecond: 0n,
};

const without = (name: string) => ASKED.filter(([field]) => field !== name);
const withField = (name: string, value: string): VideoEntry[] => [...without(name), [name, value]];

/** Expects that a rejected request leaves no data behind, and returns its error. */
async function refusal(app: Awaited<ReturnType<typeof videoApp>>, response: WireAnswer) {
  const { error } = await response.json();
  expect(await app.held()).toEqual([]);
  expect(await app.store.listOpen(5)).toEqual([]);
  expect(app.queued).toEqual([]);
  return { status: response.status, ...error };
}

describe('an extension', () => {
  it('returns the queued job', async () => {
    const app = await videoApp();
    const response = await app.extend([...ASKED, clipPart()]);
    expect(response.status).toBe(200);
    const video = await response.json();
    expect(video).toEqual({
      id: expect.stringMatching(/^video_[0-9a-f]{32}$/),
      object: 'video',
      model: 'vid-2.0',
      status: 'queued',
      progress: 0,
      created_at: NOW,
      completed_at: null,
      expires_at: null,
      prompt: 'The camera pans on.',
      size: '1280x720',
      seconds: '5',
      audio: true,
      error: null,
      remixed_from_video_id: null,
      metadata: { note: 'makes nothing up' },
    });
    expect(response.headers.get('openai-poll-after-ms')).toMatch(/^\d{4}$/);
    expect(app.queued).toEqual([video.id]);
    // The clip remains, but no file of the request.
    expect(await app.held()).toEqual([expect.stringContaining(`${video.id}/input`)]);
  });

  it.each<[string, VideoEntry[]]>([
    ['the file first', [clipPart(), ...ASKED]],
    [
      'a prompt of 32,000 characters of four bytes',
      [...withField('prompt', '🎬'.repeat(32_000)), clipPart()],
    ],
    ['a prompt of one character', [...withField('prompt', ' '), clipPart()]],
    ['the longest segment', [...withField('seconds', '15'), clipPart()]],
    ['the shortest segment', [...withField('seconds', '4'), clipPart()]],
  ])('takes %s', async (_, entries) => {
    const app = await videoApp();
    expect(await app.create(entries)).toMatchObject({ status: 'queued' });
  });

  it('limits the size of a large clip to the ceiling of the model', async () => {
    const app = await videoApp();
    const clip = clipPart(fakeClip({ width: 2160, height: 3840 }));
    expect(await app.create([...ASKED, clip])).toMatchObject({ size: '1080x1920' });
  });

  it('reserves the maximum cost and is rejected if the credits do not cover it', async () => {
    const app = await videoApp({ prices: [PRICE] });
    const rejected = await refusal(app, await app.extend([...ASKED, clipPart()]));
    expect(rejected).toMatchObject({ status: 429, type: 'insufficient_quota', code: 'insufficient_quota' });
    expect(await app.folders()).toEqual([]);
    await app.credits.grant('a', 200_000_000, NOW);
    await app.create();
    // 1280 × 720 × 24 × 5 / 1024 tokens.
    expect(await app.credits.balance('a')).toMatchObject({ available: 92_000_000, reserved: 108_000_000 });
  });

  it('is stored while the queue is unavailable', async () => {
    const app = await videoApp({ queueFailure: () => new Error('away') });
    const { id } = await app.create();
    expect(await app.store.listOpen(5)).toEqual([id]);
    expect(app.log.lines).toMatchObject([{ level: 'error', fields: { video: id } }]);
  });
});

describe('an idempotency key', () => {
  it('returns the same video, reserved once, and stores one clip', async () => {
    const app = await videoApp({ prices: [PRICE], quota: { maxOpen: 1, maxBytes: 1e9 } });
    await app.credits.grant('a', 200_000_000, NOW);
    const headers = { 'idempotency-key': 'k' };
    const send = (clip: VideoEntry) => {
      const body = new FormData();
      for (const [name, value] of [...ASKED, clip]) body.append(name, value);
      return app.send(EXTENSIONS, { method: 'POST', headers, body });
    };
    const [first, second] = [await (await send(clipPart())).json(), await (await send(clipPart())).json()];
    expect(second).toEqual(first);
    expect(app.queued).toEqual([first.id]);
    expect(await app.held()).toHaveLength(1);
    expect(await app.credits.balance('a')).toMatchObject({ reserved: 108_000_000 });
    const other = await send(clipPart(fakeClip({ durationS: 3 })));
    expect([other.status, other.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect((await other.json()).error).toMatchObject({ code: 'idempotency_conflict' });
    expect(await app.held()).toHaveLength(1);
    expect(await app.folders()).toEqual([first.id]);
  });

  it('is rejected if it is invalid', async () => {
    const app = await videoApp();
    const headers = { 'idempotency-key': 'x'.repeat(256), 'content-type': 'application/json' };
    const response = await app.send(EXTENSIONS, { method: 'POST', headers, body: '{}' });
    expect(await refusal(app, response)).toMatchObject({ status: 400, param: 'Idempotency-Key' });
  });
});

describe('a form is rejected for', () => {
  test.each<[string, VideoEntry[], string, string, RegExp]>([
    ['no model', without('model'), 'model', 'missing_required_parameter', /is required.*vid-2\.5.*SDK/],
    ['an unknown model', withField('model', 'sora-2'), 'model', 'model_not_found', /vid-2\.0-mini/],
    ['no prompt', without('prompt'), 'prompt', 'missing_required_parameter', /1 to 32000/],
    ['an empty prompt', withField('prompt', ''), 'prompt', 'invalid_value', /1 to 32000/],
    ['a long prompt', withField('prompt', 'é'.repeat(32_001)), 'prompt', 'string_above_max_length', /32000/],
    ['no seconds', without('seconds'), 'seconds', 'missing_required_parameter', /4 to 15 s/],
    ...[
      'auto',
      '5.0',
      '5.5',
      '+5',
      '-5',
      ' 5',
      '5 ',
      '',
      '05',
      '0',
      '3',
      '16',
      '5e0',
      '٥',
      '1e9',
      'five',
    ].map((seconds): [string, VideoEntry[], string, string, RegExp] => [
      `seconds '${seconds}'`,
      withField('seconds', seconds),
      'seconds',
      'invalid_value',
      /a whole number as a string, such as "4".*4 to 15 s with 'vid-2.0'/,
    ]),
    ['an unknown field', [...ASKED, ['size', '1280x720']], 'size', 'unknown_parameter', /model, prompt/],
    ['audio', [...ASKED, ['audio', 'true']], 'audio', 'unsupported_parameter', /models with audio/],
    ['a repeated field', [...ASKED, ['model', 'vid-2.0']], 'model', 'invalid_value', /Duplicate form field/],
  ])('%s, with the file before or after it', async (_, entries, param, code, message) => {
    const app = await videoApp();
    for (const form of [
      [...entries, clipPart()],
      [clipPart(), ...entries],
    ]) {
      const rejected = await refusal(app, await app.extend(form));
      expect(rejected).toMatchObject({ status: 400, type: 'invalid_request_error', param, code });
      expect(rejected.message).toMatch(message);
    }
    expect(app.engine.requests).toEqual([]);
  });

  test.each<[string, VideoEntry[], string, string]>([
    ['no video', [], 'missing_required_parameter', 'video'],
    ['an empty file', [clipPart('')], 'invalid_value', 'video'],
    ['two files', [clipPart(), clipPart()], 'invalid_value', 'video'],
    ['a file and an id', [clipPart(), ['video[id]', 'video_1']], 'invalid_value', 'video'],
    [
      'an id and a url',
      [
        ['video[id]', 'video_1'],
        ['video[url]', 'https://x.example/'],
      ],
      'invalid_value',
      'video',
    ],
    ['a file in another field', [['image', new File(['x'], 'x.png')]], 'invalid_type', 'image'],
    ['a video of words', [['video', 'the one of yesterday']], 'invalid_value', 'video'],
    ['a video of other JSON', [['video', '{"file":"x"}']], 'invalid_value', 'video'],
    ['a video of broken JSON', [['video', '{"id":']], 'invalid_value', 'video'],
    ['a video of a list', [['video[]', 'video_1']], 'invalid_type', 'video'],
    ['a file that is not a clip', [clipPart('no clip')], 'invalid_value', 'video'],
  ])('%s', async (_, entries, code, param) => {
    const app = await videoApp();
    expect(await refusal(app, await app.extend([...ASKED, ...entries]))).toMatchObject({
      status: 400,
      code,
      param,
    });
  });

  it('a file that is too large, counted as it arrives', async () => {
    const app = await videoApp();
    const long = clipPart(new Uint8Array(CLIP_BYTES + 1));
    expect(await refusal(app, await app.extend([...ASKED, long]))).toMatchObject({
      status: 413,
      param: 'video',
      code: 'payload_too_large',
      message: "'video' must be a file of at most 65536 bytes.",
    });
  });

  it('another content type or a compressed body', async () => {
    const app = await videoApp();
    const headers = { 'content-type': 'text/plain' };
    expect(
      await refusal(app, await app.send(EXTENSIONS, { method: 'POST', headers, body: 'x' })),
    ).toMatchObject({
      status: 415,
    });
    const form = new FormData();
    form.append('model', 'vid-2.0');
    const encoded = { method: 'POST', headers: { 'content-encoding': 'gzip' }, body: form };
    expect(await refusal(app, await app.send(EXTENSIONS, encoded))).toMatchObject({ status: 415 });
  });

  it('invalid fields before a long file, without waiting for its bytes', async () => {
    const app = await videoApp();
    let sent = 0;
    const head =
      '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nvid-9\r\n--b\r\ncontent-disposition: form-data; name="video"; filename="a"\r\n\r\n';
    const body = new ReadableStream({
      async pull(controller) {
        controller.enqueue(sent === 0 ? Buffer.from(head) : new Uint8Array(1024));
        sent += 1;
        await Bun.sleep(1);
      },
    });
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const response = await app.send(EXTENSIONS, { method: 'POST', headers, body });
    expect(await refusal(app, response)).toMatchObject({ status: 400, code: 'model_not_found' });
    expect(sent).toBeLessThan(CLIP_BYTES / 1024 / 2);
  });
});

describe('an unsupported clip is rejected before a job is created', () => {
  test.each<[Parameters<typeof fakeClip>[0], RegExp]>([
    [{ container: 'webm' }, /webm.*MP4 or QuickTime/],
    [{ durationS: 1 }, /1 s long.*2 to 15 s/],
    [{ fps: 12 }, /12 fps.*24 to 60/],
    [{ width: 200 }, /200x720.*300 to 6000/],
  ])('%j', async (facts, message) => {
    const app = await videoApp({ prices: [PRICE] });
    await app.credits.grant('a', 200_000_000, NOW);
    const rejected = await refusal(app, await app.extend([...ASKED, clipPart(fakeClip(facts))]));
    expect(rejected).toMatchObject({ status: 400, param: 'video', code: 'invalid_value' });
    expect(rejected.message).toMatch(message);
    expect(await app.credits.balance('a')).toMatchObject({ available: 200_000_000, reserved: 0 });
  });

  it('by the limits of the requested model', async () => {
    const app = await videoApp();
    const clip = clipPart(fakeClip({ width: 1920, height: 1080 }));
    const rejected = await refusal(app, await app.extend([...withField('model', 'vid-2.0-fast'), clip]));
    expect(rejected.message).toBe(
      "'video' is 1920x1080; 'vid-2.0-fast' supports clips of at most 720p (shorter side).",
    );
  });
});

describe('limits of an organization', () => {
  it('on unfinished videos', async () => {
    const app = await videoApp({ quota: { maxOpen: 1, maxBytes: 1e9 } });
    const { id } = await app.create();
    const response = await app.extend([...ASKED, clipPart()]);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBeTruthy();
    expect((await response.json()).error).toMatchObject({
      code: 'rate_limit_exceeded',
      message: expect.stringMatching(/1 of at most 1 unfinished video jobs.* of at most 1000000000 bytes/),
    });
    await app.create([...ASKED, clipPart()], KEY_B);
    await app.run(id);
    await app.create();
  });

  it('on stored bytes', async () => {
    const app = await videoApp({ quota: { maxOpen: 10, maxBytes: 30 } });
    const response = await app.extend([...ASKED, clipPart(fakeClip({ durationS: 4, frames: 96 }))]);
    expect(await refusal(app, response)).toMatchObject({
      status: 400,
      param: 'video',
      code: 'storage_limit_exceeded',
    });
  });

  it('on concurrent requests', async () => {
    const app = await videoApp({ requestsPerOrganization: 1 });
    const held = Promise.withResolvers<void>();
    const body = new ReadableStream({ pull: () => held.promise });
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const first = app.send(EXTENSIONS, { method: 'POST', headers, body });
    await expect.poll(async () => (await app.extend([...ASKED, clipPart()])).status).toBe(429);
    app.videos.open.stop();
    expect((await first).status).toBe(503);
    held.resolve();
  });
});

/** An app with a completed video. */
async function completed(options: Parameters<typeof videoApp>[0] = {}) {
  const app = await videoApp(options);
  const { id } = await app.create();
  await app.run(id);
  return { ...app, id: id as string };
}

describe('extending a video', () => {
  test.each<[string, (id: string) => VideoEntry]>([
    ['brackets', (id) => ['video[id]', id]],
    ['JSON in a text', (id) => ['video', `{"id":"${id}"}`]],
    ['the bare id', (id) => ['video', id]],
  ])('accepts %s in a form', async (_, named) => {
    const app = await completed();
    const video = await app.create([...ASKED, named(app.id)]);
    expect(await app.store.get('a', video.id)).toMatchObject({ source: app.id, clip: { durationS: 5 } });
    await app.run(video.id);
    expect(app.engine.requests.map(({ facts }) => facts.durationS)).toEqual([4, 5]);
  });

  test.each([
    ['object', (id: string) => ({ id })],
    ['bare id', (id: string) => id],
    ['JSON in a text', (id: string) => JSON.stringify({ id, url: null })],
  ])('accepts %s in a JSON body', async (_, video) => {
    const app = await completed();
    const response = await app.extendJson({
      ...Object.fromEntries(ASKED),
      video: video(app.id),
      audio: null,
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'queued', seconds: '5' });
  });

  test.each([
    [{ seconds: 5 }, 'seconds', 'invalid_type'],
    [{ prompt: 7 }, 'prompt', 'invalid_type'],
    [{ model: ['vid-2.0'] }, 'model', 'invalid_type'],
    [{ video: 7 }, 'video', 'invalid_type'],
    [{ video: {} }, 'video', 'invalid_value'],
    [{ video: { id: 7 } }, 'video', 'invalid_value'],
    [{ video: null }, 'video', 'missing_required_parameter'],
    [{ n: 1 }, 'n', 'unknown_parameter'],
  ])('rejects the JSON fields %j', async (fields, param, code) => {
    const app = await videoApp();
    const body = { ...Object.fromEntries(ASKED), video: 'video_1', ...fields };
    expect(await refusal(app, await app.extendJson(body))).toMatchObject({ status: 400, param, code });
  });

  it('requires a completed video of the organization', async () => {
    const app = await completed();
    const { id: open } = await app.create();
    const { id: failed } = await app.create();
    app.engine.script.push(() => Promise.reject(new Error('broken')));
    await app.run(failed);
    const response = async (id: string, key?: string) => {
      const rejected = await app.extend([...ASKED, ['video[id]', id]], key);
      const { error } = await rejected.json();
      return { status: rejected.status, ...error };
    };
    const notFound = (id: string) => ({
      status: 404,
      param: 'video',
      message: `Video with id '${id}' not found.`,
    });
    expect(await response('video_1')).toMatchObject(notFound('video_1'));
    expect(await response('clip.mp4')).toMatchObject(notFound('clip.mp4'));
    expect(await response(app.id, KEY_B)).toMatchObject(notFound(app.id));
    expect(await response(open)).toMatchObject({ status: 400, param: 'video', code: 'video_not_ready' });
    expect(await response(failed)).toMatchObject({ status: 400, param: 'video', code: 'invalid_value' });
  });

  it('prevents its deletion until the extension is finished', async () => {
    const app = await completed();
    const { id } = await app.create([...ASKED, ['video[id]', app.id]]);
    for (const used of [app.id, id]) {
      const response = await app.send(`/v1/videos/${used}`, { method: 'DELETE' });
      expect(response.status).toBe(409);
      expect(response.headers.get('x-should-retry')).toBe('false');
      expect((await response.json()).error).toMatchObject({ code: 'video_in_use' });
    }
    await app.run(id);
    expect((await app.send(`/v1/videos/${app.id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await app.send(`/v1/videos/${id}/content`)).status).toBe(200);
  });
});

describe('a clip at a URL', () => {
  const LOCAL = [{ address: '127.0.0.1', family: 4 }];

  /** A local TLS server, and the download settings to reach it. */
  function server(response: () => Response) {
    const certificate = selfSigned();
    const far = Bun.serve({ hostname: '127.0.0.1', port: 0, tls: certificate, fetch: response });
    onTestFinished(() => far.stop(true));
    const ports = new Set([far.port ?? 0]);
    const downloads = {
      ca: certificate.cert,
      ports,
      resolve: async () => LOCAL,
      isAllowedAddress: () => true,
    };
    return { url: `https://localhost:${far.port}/clip.mp4`, downloads };
  }

  test.each<[string, (url: string) => VideoEntry]>([
    ['brackets', (url) => ['video[url]', url]],
    ['JSON in a text', (url) => ['video', JSON.stringify({ url })]],
    ['the bare URL', (url) => ['video', url]],
  ])('is downloaded from %s', async (_, named) => {
    const { url, downloads } = server(() => new Response(fakeClip({ width: 640, height: 360 })));
    const app = await videoApp({ downloads });
    expect(await app.create([...ASKED, named(url)])).toMatchObject({ size: '640x360' });
  });

  test.each<[string, () => Response, RegExp]>([
    ['does not exist', () => new Response('', { status: 404 }), /status 404/],
    ['is too large', () => new Response(new Uint8Array(CLIP_BYTES + 1)), /at most 65536 bytes/],
    ['is not a clip', () => new Response('a page'), /not a clip/],
    ['redirects to plain HTTP', () => Response.redirect('http://169.254.169.254/'), /https/],
  ])('is rejected if it %s', async (_, response, message) => {
    const { url, downloads } = server(response);
    const app = await videoApp({ downloads });
    const rejected = await refusal(app, await app.extend([...ASKED, ['video[url]', url]]));
    expect(rejected).toMatchObject({ status: 400, param: 'video', code: 'invalid_value' });
    expect(rejected.message).toMatch(message);
  });

  test.each([
    ...['http://example.com/clip.mp4', 'https://localhost/', 'https://127.0.0.1/', 'https://[::1]/'],
    ...['https://169.254.169.254/latest/meta-data', 'https://user:key@example.com/', 'https://10.0.0.1/'],
    ...['https://metadata.invalid/', 'https://example.com:8080/', 'file:///etc/passwd', 'https://'],
  ])('is rejected by the URL rules of the service: %s', async (url) => {
    const app = await videoApp();
    for (const entry of [
      ['video[url]', url],
      ['video', JSON.stringify({ url })],
    ] as const) {
      expect(await refusal(app, await app.extend([...ASKED, entry]))).toMatchObject({
        status: 400,
        param: 'video',
        code: 'invalid_value',
      });
    }
  });
});

describe('a video', () => {
  it('has the current state and a poll delay until it is finished', async () => {
    const app = await videoApp();
    const { id } = await app.create();
    const path = `/v1/videos/${id}`;
    app.clock.advance(3000);
    const runner = 'r1';
    await app.store.claim(id, runner, NOW + 3);
    app.clock.advance(8000);
    const open = await app.send(path);
    expect(open.headers.get('openai-poll-after-ms')).toMatch(/^[1-5]\d{3}$/);
    const { progress, status } = await open.json();
    expect(status).toBe('in_progress');
    expect(progress).toBeGreaterThan(0);
    expect(progress).toBeLessThanOrEqual(95);
    await app.run(id);
    const ended = await app.send(path);
    expect(ended.headers.get('openai-poll-after-ms')).toBeNull();
    expect(await ended.json()).toMatchObject({
      status: 'completed',
      progress: 100,
      completed_at: NOW + 11,
      size: '1280x720',
      seconds: '5',
    });
  });

  it('has the actual size and length once completed', async () => {
    const app = await videoApp();
    const { id } = await app.create();
    app.engine.script.push(async (request, work, signal) => {
      await makeIt(request, work, signal);
      return { width: 1278, height: 718, seconds: 5.0416666, audio: false };
    });
    await app.run(id);
    expect(await (await app.send(`/v1/videos/${id}`)).json()).toMatchObject({
      size: '1278x718',
      seconds: '5.042',
      audio: false,
    });
  });

  it('returns 404 for other organizations and for an empty id', async () => {
    const app = await completed();
    for (const [path, method] of [
      [`/v1/videos/${app.id}`, 'GET'],
      [`/v1/videos/${app.id}`, 'DELETE'],
      [`/v1/videos/${app.id}/content`, 'GET'],
    ] as const) {
      const response = await app.send(path, { method }, KEY_B);
      expect(response.status).toBe(404);
      expect((await response.json()).error.message).toBe(`Video with id '${app.id}' not found.`);
    }
    expect((await app.send(`/v1/videos/${app.id}`)).status).toBe(200);
  });

  it('is deleted together with its bytes', async () => {
    const app = await completed();
    expect(await app.held()).not.toEqual([]);
    const response = await app.send(`/v1/videos/${app.id}`, { method: 'DELETE' });
    expect(await response.json()).toEqual({ id: app.id, object: 'video.deleted', deleted: true });
    expect(await app.held()).toEqual([]);
    expect((await app.send(`/v1/videos/${app.id}`, { method: 'DELETE' })).status).toBe(404);
  });

  test.each(['', '/edits', '/characters', '/video_1/remix'])(
    'POST /v1/videos%s returns 404',
    async (path) => {
      const app = await videoApp();
      expect((await app.send(`/v1/videos${path}`, { method: 'POST' })).status).toBe(404);
    },
  );
});

describe('the list', () => {
  it('is paged in both orders', async () => {
    const app = await videoApp();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await app.create()).id);
    await app.create([...ASKED, clipPart()], KEY_B);
    const page = async (query: string) => (await app.send(`/v1/videos${query}`)).json();
    const [first, second, third] = ids;
    expect(await page('')).toMatchObject({
      object: 'list',
      data: [{ id: third }, { id: second }, { id: first }],
      first_id: third,
      last_id: first,
      has_more: false,
    });
    expect(await page('?limit=2')).toMatchObject({ last_id: second, has_more: true });
    expect(await page(`?limit=2&after=${second}`)).toMatchObject({ data: [{ id: first }], has_more: false });
    expect(await page('?order=asc&limit=1')).toMatchObject({ data: [{ id: first }], has_more: true });
    expect(await page('?limit=0')).toEqual({
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: true,
    });
  });

  test.each(['limit=-1', 'limit=101', 'limit=x', 'order=up', 'after=video_1', 'limit=1&limit=2'])(
    'rejects %s',
    async (query) => {
      const app = await videoApp();
      const response = await app.send(`/v1/videos?${query}`);
      expect(response.status).toBe(400);
      expect((await response.json()).error.param).toBe(query.split('=')[0]);
    },
  );
});

describe('the content', () => {
  const content = (id: string, query = '') => `/v1/videos/${id}/content${query}`;

  it('is the segment, or its first frame', async () => {
    const app = await completed();
    const video = await app.send(content(app.id));
    expect(video.status).toBe(200);
    expect(video.headers.get('content-type')).toBe('video/mp4');
    expect(video.headers.get('content-disposition')).toContain(`${app.id}.mp4`);
    const text = await video.text();
    expect(text).toContain('fakeClip');
    expect(video.headers.get('content-length')).toBe(String(text.length));
    expect(await (await app.send(content(app.id, '?variant=video'))).text()).toBe(text);
    const frame = await app.send(content(app.id, '?variant=thumbnail'));
    expect(frame.headers.get('content-type')).toBe('image/webp');
    expect(await frame.text()).toContain('first frame');
    expect(frame.headers.get('etag')).not.toBe(video.headers.get('etag'));
  });

  it('supports ranges, conditional requests and HEAD', async () => {
    const app = await completed();
    const whole = await app.send(content(app.id));
    const text = await whole.text();
    const etag = whole.headers.get('etag') ?? '';
    const part = await app.send(content(app.id), { headers: { range: 'bytes=2-9' } });
    expect([part.status, await part.text()]).toEqual([206, text.slice(2, 10)]);
    expect(part.headers.get('content-range')).toBe(`bytes 2-9/${text.length}`);
    const behind = await app.send(content(app.id), { headers: { range: 'bytes=9999-' } });
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, `bytes */${text.length}`]);
    expect((await app.send(content(app.id), { headers: { 'if-none-match': etag } })).status).toBe(304);
    const head = await app.send(content(app.id), { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(text.length)]);
  });

  it('is not available before completion or after failure', async () => {
    const app = await videoApp();
    const { id } = await app.create();
    const rejected = async () => {
      const response = await app.send(content(id));
      return { status: response.status, ...(await response.json()).error };
    };
    expect(await rejected()).toMatchObject({
      status: 400,
      code: 'video_not_ready',
      message: 'Video is not ready yet, use GET /v1/videos/{id} to check status.',
    });
    app.engine.script.push(() => Promise.reject(new Error('broken')));
    await app.run(id);
    expect(await rejected()).toMatchObject({ status: 400, code: 'generation_failed' });
  });

  test.each(['spritesheet', 'audio', ''])("of the variant '%s' is rejected", async (variant) => {
    const app = await completed();
    const response = await app.send(content(app.id, `?variant=${variant}`));
    expect(response.status).toBe(400);
    expect((await response.json()).error).toMatchObject({ param: 'variant', code: 'unsupported_value' });
  });
});

describe('a client that disconnects', () => {
  it('while its clip arrives leaves no data behind', async () => {
    const app = await videoApp();
    const origin = app.listen();
    const leaving = new AbortController();
    const part = '--b\r\ncontent-disposition: form-data; name="video"; filename="a"\r\n\r\n';
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from(`${part}${'x'.repeat(5000)}`)),
    });
    const headers = { 'x-api-key': 'key-of-a', 'content-type': 'multipart/form-data; boundary=b' };
    const { signal } = leaving;
    const sent = fetch(`${origin}${EXTENSIONS}`, { method: 'POST', headers, body, signal });
    await expect.poll(async () => (await app.held()).length).toBe(1);
    leaving.abort();
    await expect(sent).rejects.toThrow();
    await expect.poll(() => app.held()).toEqual([]);
  });
});
