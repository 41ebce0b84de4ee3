import { expect, test } from 'vitest';
import type { ReadyReport } from '../../contract/engines/engine.ts';
import { modelRoutes } from './models.ts';

const listed = [
  { id: 'small', task: 'chat' },
  { id: 'large', task: 'chat' },
] as const;

test('the list has the current state of models that are loaded on demand', async () => {
  const reports = new Map<string, ReadyReport>([['small', { ready: true, detail: 'llama, cpu' }]]);
  const app = modelRoutes(listed, 1000, () => reports);
  const list = async (path = '/v1/models') => (await app.handle(new Request(`http://host${path}`))).json();
  const common = { object: 'model', created: 1000, owned_by: 'system', task: 'chat' };

  reports.set('large', { ready: true, load: { state: 'not_loaded' } });
  expect(await list()).toEqual({
    object: 'list',
    data: [
      { id: 'small', ...common },
      { id: 'large', ...common, load: { state: 'not_loaded' } },
    ],
  });

  const load = { state: 'downloading', percent: 50, doneBytes: 5, totalBytes: 10 } as const;
  reports.set('large', { ready: true, load });
  expect(await list('/v1/models/large')).toEqual({
    ...{ id: 'large', ...common },
    load: { state: 'downloading', percent: 50, downloaded_bytes: 5, total_bytes: 10 },
  });
});
