import { expect, test } from 'vitest';
import { defaultModel, loadIntervalMs, type Model, type ModelLoad } from './models.ts';

const model = (state?: ModelLoad['state']): Model => ({
  id: 'model',
  task: 'chat',
  ...(state !== undefined && { load: { state } }),
});

test('models that are always loaded are not polled', () => {
  expect(loadIntervalMs([])).toBeUndefined();
  expect(loadIntervalMs([model()])).toBeUndefined();
});

test('a running download or load is polled often', () => {
  expect(loadIntervalMs([model(), model('loaded'), model('downloading')])).toBe(1000);
  expect(loadIntervalMs([model('loading')])).toBe(1000);
});

test('models that a request can load are polled rarely', () => {
  for (const state of ['not_loaded', 'loaded', 'failed'] as const) {
    expect(loadIntervalMs([model(), model(state)])).toBe(5000);
  }
});

test('preselects a model that responds without a download', () => {
  const loaded: Model = { id: 'a', task: 'chat' };
  const large = (state: 'not_loaded' | 'loaded'): Model => ({ id: 'large', task: 'chat', load: { state } });
  expect(defaultModel([large('not_loaded'), loaded])).toBe(loaded);
  expect(defaultModel([large('loaded'), loaded])?.id).toBe('large');
  expect(defaultModel([large('not_loaded')])?.id).toBe('large');
  expect(defaultModel([])).toBeUndefined();
});
