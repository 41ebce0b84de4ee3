import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ServiceAccess } from '../../tools/harness/services/launcher.ts';
import { smallClip } from '../../tools/harness/services/video-service.ts';
import { scriptedService } from '../harness/group-servers.ts';

/** The unmodified OpenAI client against the real process with the embedded model: extend, poll, download. */

const PATIENCE = { interval: 200 };

let clip: Uint8Array<ArrayBuffer>;
let service: ServiceAccess;
let client: OpenAI;
let sent: string[] = [];

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video-test-'));
  clip = await smallClip(folder);
  await rm(folder, { recursive: true });
  service = await scriptedService();
  client = new OpenAI({
    apiKey: service.key,
    baseURL: `${service.baseUrl}/v1`,
    fetch: (url, init) => {
      sent.push(`${init?.method} ${new URL(String(url)).pathname}`);
      return fetch(url, init);
    },
  });
});

/** The types of the SDK have no `model` and other values of `seconds`. */
const extend = (fields: object, by = client) =>
  by.videos.extend({
    model: 'vid-2.0',
    prompt: 'The camera pans on.',
    seconds: '4',
    ...fields,
  } as unknown as OpenAI.VideoExtendParams);

const file = () => toFile(clip, 'clip.mp4');

async function waitForEnd(id: string) {
  await expect
    .poll(async () => (await client.videos.retrieve(id)).status, PATIENCE)
    .toMatch(/^(completed|failed)$/);
  return client.videos.retrieve(id);
}

describe('a video', () => {
  let first: OpenAI.Video;
  let second: OpenAI.Video;

  test('from a file is the new segment as MP4, with a thumbnail', {}, async () => {
    first = await extend({ video: await file() });
    expect(first).toMatchObject({
      status: 'queued',
      progress: 0,
      size: '400x300',
      seconds: '4',
      error: null,
    });

    sent = [];
    await expect(client.videos.delete(first.id)).rejects.toMatchObject({ status: 409, code: 'video_in_use' });
    expect(sent).toEqual([`DELETE /v1/videos/${first.id}`]);
    await expect(client.videos.downloadContent(first.id)).rejects.toMatchObject({
      status: 400,
      code: 'video_not_ready',
    });

    const video = await waitForEnd(first.id);
    expect(video).toMatchObject({ status: 'completed', progress: 100, size: '400x300', audio: true });
    expect(Number(video.seconds)).toBeCloseTo(4, 1);
    expect(video.completed_at).toBeGreaterThanOrEqual(video.created_at);

    const content = await client.videos.downloadContent(first.id);
    expect(content.headers.get('content-type')).toBe('video/mp4');
    const bytes = new Uint8Array(await content.arrayBuffer());
    expect(Buffer.from(bytes.subarray(4, 8)).toString()).toBe('ftyp');
    const frame = await client.videos.downloadContent(first.id, { variant: 'thumbnail' });
    expect(frame.headers.get('content-type')).toBe('image/webp');
    expect(
      Buffer.from(await frame.arrayBuffer())
        .subarray(8, 12)
        .toString(),
    ).toBe('WEBP');
  });

  test('can continue a generated video, which cannot be deleted until then', {}, async () => {
    second = await extend({ video: { id: first.id }, model: 'vid-2.5' });
    await expect(client.videos.delete(first.id)).rejects.toMatchObject({ status: 409 });
    expect(await waitForEnd(second.id)).toMatchObject({ status: 'completed', model: 'vid-2.5' });
  });

  test('is listed by the auto-pagination of the SDK', async () => {
    const ids: string[] = [];
    for await (const { id } of client.videos.list({ limit: 1 })) ids.push(id);
    expect(ids).toEqual([second.id, first.id]);
  });

  test('does not exist for another organization', async () => {
    const other = new OpenAI({ apiKey: service.otherKey, baseURL: `${service.baseUrl}/v1` });
    const requests = [
      other.videos.retrieve(first.id),
      other.videos.delete(first.id),
      other.videos.downloadContent(first.id),
      extend({ video: { id: first.id } }, other),
    ];
    // Concurrently: one that fails before the others must not be an unhandled rejection.
    await Promise.all(requests.map((request) => expect(request).rejects.toMatchObject({ status: 404 })));
    expect((await other.videos.list()).data).toEqual([]);
  });

  test('does not exist after its deletion', async () => {
    expect(await client.videos.delete(second.id)).toEqual({
      id: second.id,
      object: 'video.deleted',
      deleted: true,
    });
    await expect(client.videos.retrieve(second.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.videos.downloadContent(second.id)).rejects.toMatchObject({ status: 404 });
    expect((await client.videos.list()).data.map(({ id }) => id)).toEqual([first.id]);
  });

  test('has one usage row', async () => {
    const { data } = (await (await service.fetch('/v1/usage')).json()) as { data: object[] };
    expect(data).toHaveLength(2);
    for (const row of data) {
      expect(row).toMatchObject({
        endpoint: 'POST /v1/videos/extensions',
        status: 'completed',
        output_tokens: (400 * 300 * 24 * 4) / 1024,
      });
    }
  });
});

describe('the request is rejected', () => {
  test.each<[string, () => object | Promise<object>, RegExp]>([
    ['for a text file', async () => ({ video: await toFile(Buffer.from('no clip'), 'clip.mp4') }), /./],
    ['for a truncated file', async () => ({ video: await toFile(clip.subarray(0, 9000), 'clip.mp4') }), /./],
    [
      'for a URL of a loopback address',
      () => ({ video: { url: 'https://127.0.0.1/clip.mp4' } }),
      /public internet/,
    ],
    ['for an http URL', () => ({ video: { url: 'http://example.com/clip.mp4' } }), /https/],
  ])('%s', async (_, fields, message) => {
    const before = (await client.videos.list()).data.length;
    await expect(Promise.resolve(fields()).then((it) => extend(it))).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: 'video',
      message: expect.stringMatching(message),
    });
    expect((await client.videos.list()).data).toHaveLength(before);
  });

  test('without a model; the message mentions that the SDK types lack it', async () => {
    await expect(extend({ video: await file(), model: undefined })).rejects.toMatchObject({
      status: 400,
      param: 'model',
      message: expect.stringContaining('SDK'),
    });
  });
});

interface OpenApiPaths {
  readonly paths: Readonly<
    Record<
      string,
      { post: { requestBody: { content: Readonly<Record<string, { schema: { properties: object } }>> } } }
    >
  >;
}

test('the OpenAPI document has every path and field', async () => {
  const { paths } = (await (await service.fetch('/swagger/json')).json()) as OpenApiPaths;
  const documented = Object.keys(paths).filter((path) => path.startsWith('/v1/videos'));
  expect(documented.sort()).toEqual([
    '/v1/videos',
    '/v1/videos/extensions',
    '/v1/videos/{id}',
    '/v1/videos/{id}/content',
  ]);
  const content = paths['/v1/videos/extensions']?.post.requestBody.content ?? {};
  expect(Object.keys(content)).toEqual(['multipart/form-data', 'application/json']);
  for (const { schema } of Object.values(content)) {
    expect(Object.keys(schema.properties)).toEqual(['model', 'prompt', 'seconds', 'video']);
  }
});
