import { expect, test } from 'vitest';
import { readyWithAnyModel } from './readiness.ts';

const up = { name: 'up', report: { ready: true, detail: 'cpu' } };
const down = { name: 'down', report: { ready: false, detail: 'the upstream server is unavailable' } };

test('a plugin is ready while any of its models is, and its detail names the others', () => {
  expect(readyWithAnyModel([up, down])).toEqual({
    ready: true,
    detail: 'down: the upstream server is unavailable',
  });
  expect(readyWithAnyModel([up])).toEqual({ ready: true, detail: 'up: cpu' });
  expect(readyWithAnyModel([down])).toMatchObject({ ready: false });
  expect(readyWithAnyModel([])).toMatchObject({ ready: false });
});

test('a component that is unavailable is reported; one that is available is not enough', () => {
  expect(readyWithAnyModel([up], [down])).toMatchObject({
    ready: true,
    detail: expect.stringMatching(/^down: /),
  });
  expect(readyWithAnyModel([down], [up])).toMatchObject({ ready: false });
});
