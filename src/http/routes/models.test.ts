import { describe, expect, onTestFinished, test } from 'vitest';
import { mounted } from '../../../test/harness/mounted.ts';
import { KEY_A, KEY_B, testApp } from '../../../test/harness/test-app.ts';
import type { ReadyReport } from '../../contract/engines/engine.ts';
import { modelRoutes } from './models.ts';

const listed = [
  { id: 'small', task: 'chat' },
  { id: 'large', task: 'chat', files: { sizeBytes: 10, licence: 'MIT', memoryBytes: 12 } },
] as const;

const states = (reports: ReadonlyMap<string, ReadyReport> = new Map()) => ({
  reports: () => reports,
  load: () => undefined,
});

test('the list has the current state of models that are loaded on demand', async () => {
  const reports = new Map<string, ReadyReport>([['small', { ready: true, detail: 'llama, cpu' }]]);
  const app = mounted(modelRoutes(listed, 1000, states(reports)));
  const list = async (path = '/v1/models') => (await app.handle(new Request(`http://host${path}`))).json();
  const files = { size_bytes: 10, licence: 'MIT', memory_bytes: 12 };
  const common = { object: 'model', created: 1000, owned_by: 'system', task: 'chat' };

  reports.set('large', { ready: true, load: { state: 'not_loaded' } });
  expect(await list()).toEqual({
    object: 'list',
    data: [
      { id: 'small', ...common, ready: true },
      { id: 'large', ...common, ready: true, load: { state: 'not_loaded' }, files },
    ],
  });

  const load = { state: 'downloading', percent: 50, doneBytes: 5, totalBytes: 10 } as const;
  reports.set('large', { ready: true, load });
  expect(await list('/v1/models/large')).toEqual({
    id: 'large',
    ...common,
    ready: true,
    files,
    load: { state: 'downloading', percent: 50, downloaded_bytes: 5, total_bytes: 10 },
  });
});

test('the list has the engine behind each model', async () => {
  const engine = { kind: 'kokoro', compatibility: 'openai' } as const;
  const app = mounted(modelRoutes([{ id: 'tts-1', task: 'speech', engine }, ...listed], 1000, states()));
  const { data } = (await (await app.handle(new Request('http://host/v1/models'))).json()) as {
    data: { engine?: unknown }[];
  };
  expect(data.map((model) => model.engine)).toEqual([engine, undefined, undefined]);
});

test('the list has the languages of speech models that are known', async () => {
  const speaking = { id: 'tts-1', task: 'speech', languages: ['en-US', 'es'] } as const;
  const app = mounted(modelRoutes([speaking, ...listed], 1000, states()));
  const { data } = (await (await app.handle(new Request('http://host/v1/models'))).json()) as {
    data: { languages?: unknown }[];
  };
  expect(data.map(({ languages }) => languages)).toEqual([['en-US', 'es'], undefined, undefined]);
});

test('the list says whether a model can be used now', async () => {
  const reports = new Map<string, ReadyReport>([['small', { ready: false, detail: 'unavailable' }]]);
  const app = mounted(modelRoutes(listed, 1000, states(reports)));
  const { data } = (await (await app.handle(new Request('http://host/v1/models'))).json()) as {
    data: { ready?: boolean }[];
  };
  expect(data.map(({ ready }) => ready)).toEqual([false, undefined]);
});

test('the list of speech models has the shapes of OpenAI and of Open WebUI', async () => {
  const app = mounted(modelRoutes([{ id: 'tts-1', task: 'speech' }, ...listed], 1000, states()));
  const speech = { id: 'tts-1', object: 'model', created: 1000, owned_by: 'system', task: 'speech' };
  expect(await (await app.handle(new Request('http://host/v1/audio/models'))).json()).toEqual({
    object: 'list',
    data: [speech],
    models: [{ id: 'tts-1', name: 'tts-1' }],
  });
});

describe('POST /v1/models/{id}/load', () => {
  const setUp = () => {
    const loads: string[] = [];
    const state = () => (loads.length === 0 ? 'not_loaded' : 'downloading');
    const app = testApp({
      listedModels: listed,
      models: () => new Map([['large', { task: 'chat', ready: true, load: { state: state() } }]]),
      loadModel: (id) => loads.push(id),
    });
    onTestFinished(() => app.close());
    const post = (id: string, key = KEY_A) =>
      app.send(`/v1/models/${id}/load`, { method: 'POST', headers: { 'x-api-key': key } });
    return { post, loads };
  };

  test('starts the load and returns the state after it', async () => {
    const { post, loads } = setUp();
    const response = await post('large');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: 'large', load: { state: 'downloading' } });
    expect(loads).toEqual(['large']);
  });

  test('requires an operator key', async () => {
    const { post, loads } = setUp();
    expect((await post('large', KEY_B)).status).toBe(403);
    expect(loads).toEqual([]);
  });

  test('rejects an unknown model', async () => {
    const { post, loads } = setUp();
    const response = await post('lage');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } });
    expect(loads).toEqual([]);
  });
});
