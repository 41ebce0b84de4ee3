import { expect, test } from 'vitest';
import { loadIntervalMs, type Model, type ModelLoad } from './models.ts';

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
