import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PATIENCE } from '../../tools/harness/patience.ts';
import { HAS_POSTGRES } from '../../tools/harness/servers/postgres.ts';
import { createBatch, retrieveBatch, uploadInput } from '../../tools/harness/services/batch-service.ts';
import {
  type FullService,
  launchFullService,
  TEXT_MODEL,
  voiceClip,
} from '../../tools/harness/services/full-service.ts';
import { OTHER_KEY, SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { extendClip, smallClip } from '../../tools/harness/services/video-service.ts';
import { groupPostgres } from '../harness/group-servers.ts';
import { repetitions } from '../harness/tier.ts';

/**
 * Resources of one organization do not exist for another: a foreign id gets the same response as an unknown id, in every
 * path, query and body. The test fails if the OpenAPI document has an id field that is not covered here.
 */

/** Kind of the id in a path, by path prefix. */
const OWNED = {
  '/v1/files/': 'file',
  '/v1/batches/': 'batch',
  '/v1/responses/': 'response',
  '/v1/audio/voices/': 'voice',
  '/v1/videos/': 'video',
  '/v1/keys/': 'key',
} as const;
type Kind = (typeof OWNED)[keyof typeof OWNED];

/** Path prefixes of resources that all organizations share. */
const SHARED = ['/v1/models/', '/v1/plugins/'];

/** Body and query fields with ids of stored resources; {@link inBodies} covers them. */
const ID_FIELDS = ['input_file_id', 'previous_response_id', 'video', 'voice', 'voice_id'];
/** Fields that are named like ids, but do not refer to stored resources. */
const OTHER_IDS = ['call_id', 'conversation', 'custom_id', 'file_id', 'file_ids', 'id', 'tool_call_id'];

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** A response without the values that differ in every response. */
async function comparable(response: Response, id: string) {
  const { 'x-request-id': _, date, ...headers } = Object.fromEntries(response.headers);
  return { status: response.status, body: (await response.text()).replaceAll(id, 'ID'), headers };
}

/** Waits until a job is completed. */
async function waitUntilCompleted(statusOf: () => Promise<string>): Promise<void> {
  const ended = await vi.waitFor(async () => {
    const status = await statusOf();
    if (['completed', 'failed', 'expired', 'cancelled'].includes(status)) return status;
    throw new Error(`the job has status ${status}`);
  }, PATIENCE);
  if (ended !== 'completed') throw new Error(`the job has status ${ended}`);
}

/** A well-formed id that does not exist. */
const unknownId = (id: string) => `${id.slice(0, -12)}${'0'.repeat(12)}`;

// The contract cases of the stores check the isolation with both.
describe.each(['SQLite', 'PostgreSQL'].slice(0, repetitions(1, 2)))('over %s', (database) => {
  describe.skipIf(database === 'PostgreSQL' && !HAS_POSTGRES)('a resource of another organization', () => {
    let full: FullService;
    let document: OpenApi;
    /** Ids of organization `a`. */
    const ids = {} as Record<Kind | 'item' | 'usage', string>;

    const as = (key: string, method: string, path: string, body?: unknown) =>
      full.service.fetch(path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const jsonOf = async <T>(pending: Response | Promise<Response>): Promise<T> => {
      const response = await pending;
      if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    };

    beforeAll(async () => {
      const env =
        database === 'PostgreSQL' ? { DATABASE_URL: await (await groupPostgres()).freshDatabase() } : {};
      full = await launchFullService({ launch: { env } });
      const { service } = full;
      document = await jsonOf<OpenApi>(service.fetch('/swagger/json'));

      const folder = await mkdtemp(join(tmpdir(), 'isolation-test-'));
      const video = await extendClip(service, await smallClip(folder));
      await rm(folder, { recursive: true });
      const clip = await voiceClip();
      const form = new FormData();
      form.set('audio_sample', new File([clip.bytes], 'clip.wav'));
      for (const [name, value] of Object.entries({ consent: 'yes', name: 'Joe', ref_text: clip.text }))
        form.set(name, value);
      const voice = await jsonOf<{ id: string }>(
        service.fetch('/v1/audio/voices', { method: 'POST', body: form }),
      );
      const fields = { model: TEXT_MODEL, input: 'Name three birds.', store: true };
      const response = await jsonOf<{ id: string; output: { id: string }[] }>(
        as(SERVICE_KEY, 'POST', '/v1/responses', fields),
      );
      const line = { custom_id: 'one', method: 'POST', url: '/v1/embeddings' };
      const body = { model: 'all-minilm-l6-v2', input: 'A cat sat.' };
      const file = await uploadInput(service, `${JSON.stringify({ ...line, body })}\n`);
      const batch = await createBatch(service, file, '/v1/embeddings');
      const key = await jsonOf<{ id: string }>(as(SERVICE_KEY, 'POST', '/v1/keys', { name: 'second' }));
      await waitUntilCompleted(async () => (await retrieveBatch(service, batch.id)).status);
      const retrieveVideo = () => jsonOf<{ status: string }>(service.fetch(`/v1/videos/${video.id}`));
      await waitUntilCompleted(async () => (await retrieveVideo()).status);
      const usage = await jsonOf<{ data: { id: string }[] }>(service.fetch('/v1/usage'));
      Object.assign(ids, {
        file,
        batch: batch.id,
        response: response.id,
        voice: voice.id,
        video: video.id,
        key: key.id,
        item: response.output[0]?.id,
        usage: usage.data[0]?.id,
      });
    });
    afterAll(() => full?.close());

    /** Every operation with an id in its path, with the id of organization `a`. */
    function operationsWithId(): { method: string; path: string; pattern: string; id: string }[] {
      return Object.entries(document.paths).flatMap(([pattern, methods]) => {
        const [before = ''] = pattern.split('{');
        if (before === pattern || SHARED.includes(before)) return [];
        const kind = Object.entries(OWNED).find(([prefix]) => prefix === before)?.[1];
        if (kind === undefined) throw new Error(`${pattern} is not covered: add it to OWNED or SHARED`);
        const id = ids[kind];
        return Object.keys(methods).map((name) => {
          const method = name.toUpperCase();
          return { method, path: pattern.replace(/\{\w+\}/, id), pattern, id };
        });
      });
    }

    /** Requests with an id in the body or query; the owner gets 200. */
    const inBodies = () =>
      [
        {
          field: 'previous_response_id',
          id: ids.response,
          send: (key: string, id: string) =>
            as(key, 'POST', '/v1/responses', {
              model: TEXT_MODEL,
              input: 'Go on.',
              store: false,
              previous_response_id: id,
            }),
        },
        {
          field: 'item_reference',
          id: ids.item,
          send: (key: string, id: string) => {
            const input = [
              { type: 'item_reference', id },
              { role: 'user', content: 'Go on.' },
            ];
            return as(key, 'POST', '/v1/responses', { model: TEXT_MODEL, input, store: false });
          },
        },
        {
          field: 'input_file_id',
          id: ids.file,
          send: (key: string, id: string) =>
            as(key, 'POST', '/v1/batches', {
              input_file_id: id,
              endpoint: '/v1/embeddings',
              completion_window: '24h',
            }),
        },
        ...[(id: string) => id, (id: string) => ({ id })].map((fieldOf) => ({
          field: 'voice',
          id: ids.voice,
          send: (key: string, id: string) =>
            as(key, 'POST', '/v1/audio/speech', {
              model: 'svc-tts',
              input: 'Hello.',
              voice: fieldOf(id),
              response_format: 'pcm',
            }),
        })),
        {
          field: 'voice_id',
          id: ids.voice,
          send: (key: string, id: string) =>
            as(key, 'POST', `/v1/voices/partner?model=svc-tts&voice_id=${id}`, {
              message: { type: 'voice-request', text: 'Yes.', sampleRate: 8000 },
            }),
        },
        {
          field: 'video',
          id: ids.video,
          send: (key: string, id: string) =>
            as(key, 'POST', '/v1/videos/extensions', {
              model: 'vid-2.0',
              prompt: 'On.',
              seconds: '4',
              video: { id },
            }),
        },
      ] as const;

    test('is not found at any path with any method', async () => {
      const operations = operationsWithId();
      expect(new Set(operations.map(({ pattern }) => pattern)).size).toBeGreaterThan(8);
      for (const { method, path, id } of operations) {
        const unknown = unknownId(id);
        const foreign = await comparable(await as(OTHER_KEY, method, path), id);
        expect([method, path, foreign.status]).toEqual([method, path, 404]);
        expect(foreign).toEqual(
          await comparable(await as(OTHER_KEY, method, path.replace(id, unknown)), unknown),
        );
        // HEAD has its own routes.
        if (method === 'GET') expect((await as(OTHER_KEY, 'HEAD', path)).status).toBe(404);
      }
      // The resources still exist: no request deleted or cancelled them.
      for (const { method, path } of operations) {
        if (method !== 'GET') continue;
        const own = await as(SERVICE_KEY, method, path);
        expect([path, own.status]).toEqual([path, 200]);
        await own.arrayBuffer();
      }
      const keys = await jsonOf<{ data: { id: string; revoked_at: unknown }[] }>(
        as(SERVICE_KEY, 'GET', '/v1/keys'),
      );
      expect(keys.data.find(({ id }) => id === ids.key)?.revoked_at).toBeNull();
    });

    test('is rejected like an unknown id in every body', async () => {
      for (const { field, id, send } of inBodies()) {
        const unknown = unknownId(id);
        const foreign = await comparable(await send(OTHER_KEY, id), id);
        expect([field, [400, 404].includes(foreign.status)], foreign.body).toEqual([field, true]);
        expect(foreign, field).toEqual(await comparable(await send(OTHER_KEY, unknown), unknown));
        const own = await send(SERVICE_KEY, id);
        expect([field, own.status], own.ok ? '' : await own.text()).toEqual([field, 200]);
        if (own.ok) await own.arrayBuffer();
      }
    });

    test('every id field of bodies and queries is covered', () => {
      const names = new Set<string>();
      const walk = (value: unknown): void => {
        if (typeof value !== 'object' || value === null) return;
        if ('properties' in value)
          for (const name of Object.keys(value.properties as object)) names.add(name);
        Object.values(value).forEach(walk);
      };
      for (const methods of Object.values(document.paths))
        for (const { requestBody, parameters = [] } of Object.values(methods)) {
          walk(requestBody);
          for (const { name, in: place } of parameters) if (place === 'query') names.add(name);
        }
      const found = [...names].filter((name) => /(^|_)ids?$|^voice$|^video$|^conversation$/.test(name));
      const uncovered = found.filter((name) => ![...ID_FIELDS, ...OTHER_IDS].includes(name));
      expect(uncovered).toEqual([]);
      const covered: readonly string[] = inBodies().map(({ field }) => field);
      expect(ID_FIELDS.filter((name) => !covered.includes(name))).toEqual([]);
    });

    test('is not listed and is rejected like an unknown id as a cursor', async () => {
      const all = Object.values(ids);
      for (const [path, { get }] of Object.entries(document.paths)) {
        if (!path.startsWith('/v1/') || path.includes('{') || get === undefined) continue;
        const response = await as(OTHER_KEY, 'GET', path);
        // WebSocket endpoints return 426.
        expect([path, [200, 426].includes(response.status)]).toEqual([path, true]);
        const text = await response.text();
        expect([path, all.filter((id) => text.includes(id))]).toEqual([path, []]);
      }
      const lists = { files: 'file', batches: 'batch', 'audio/voices': 'voice', videos: 'video' } as const;
      const pages = [
        ...Object.entries(lists).map(([name, kind]) => [`/v1/${name}`, ids[kind]] as const),
        ...[['/v1/usage', ids.usage] as const, ['/v1/keys', ids.key] as const],
      ];
      const documented = Object.entries(document.paths)
        .filter(
          ([path, { get }]) => !path.includes('{') && get?.parameters?.some(({ name }) => name === 'after'),
        )
        .map(([path]) => path);
      expect(documented.filter((path) => !pages.some(([covered]) => covered === path))).toEqual([]);
      for (const [path, id] of pages) {
        const own = await jsonOf<{ data: object[] }>(as(SERVICE_KEY, 'GET', `${path}?limit=100`));
        expect([path, JSON.stringify(own).includes(id)]).toEqual([path, true]);
        const foreign = await comparable(await as(OTHER_KEY, 'GET', `${path}?after=${id}`), id);
        const unknown = unknownId(id);
        expect(foreign, path).toEqual(
          await comparable(await as(OTHER_KEY, 'GET', `${path}?after=${unknown}`), unknown),
        );
      }
    });

    test('is not returned for the same idempotency key', async () => {
      const headers = (key: string) => ({ authorization: `Bearer ${key}`, 'idempotency-key': 'the same' });
      const upload = async (key: string) => {
        const body = new FormData();
        body.set('purpose', 'batch');
        body.set('file', new File(['{}\n'], 'a.jsonl'));
        return jsonOf<{ id: string }>(
          full.service.fetch('/v1/files', { method: 'POST', headers: headers(key), body }),
        );
      };
      const [first, again, other] = [
        await upload(SERVICE_KEY),
        await upload(SERVICE_KEY),
        await upload(OTHER_KEY),
      ];
      expect(again.id).toBe(first.id);
      expect(other.id).not.toBe(first.id);
    });

    test('is rejected like an unknown voice by a realtime session', async () => {
      const event = async (key: string, id: string) => {
        const url = `${full.service.baseUrl.replace('http', 'ws')}/v1/realtime?model=svc-tts`;
        const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } } as never);
        const received = Promise.withResolvers<string>();
        socket.onerror = () => received.reject(new Error('the WebSocket failed'));
        socket.onmessage = ({ data }) => {
          const { type, error } = JSON.parse(String(data)) as { type: string; error?: { message: string } };
          if (type === 'session.created') {
            const session = { type: 'realtime', audio: { output: { voice: { id } } } };
            socket.send(JSON.stringify({ type: 'session.update', session }));
          } else if (type === 'session.updated' || type === 'error') {
            received.resolve(`${type}: ${error?.message.replaceAll(id, 'ID')}`);
          }
        };
        try {
          return await received.promise;
        } finally {
          socket.close();
        }
      };
      expect(await event(SERVICE_KEY, ids.voice)).toMatch(/^session\.updated/);
      const foreign = await event(OTHER_KEY, ids.voice);
      expect(foreign).toMatch(/^error: /);
      expect(foreign).toBe(await event(OTHER_KEY, unknownId(ids.voice)));
    });
  });
});
