import { describe, expect, test } from 'vitest';
import { documentedRoutes, reasonOf } from './plugin-view.ts';

describe('the reason for the state of a plugin', () => {
  test('is a sentence', () => {
    const detail = "depends on 'responses', which is not running";
    expect(reasonOf({ state: 'off', detail })).toBe("Depends on 'responses', which is not running.");
    expect(reasonOf({ state: 'off' })).toBeUndefined();
  });

  test('is not shown for a running plugin, whose detail describes its processes', () => {
    const detail = '2 of 2 inference processes loaded, cpu, 2 threads each';
    expect(reasonOf({ state: 'on', detail })).toBeUndefined();
  });
});

test('routes that repeat the end of another one are not documented', () => {
  const routes = ['/v1/files', '/v1/files/{id}', '/v1/files/{id}/content', '/v1/chat/completions'];
  expect(documentedRoutes([...routes, '/v1/chat/completions/chat/completions'])).toEqual(routes);
  expect(documentedRoutes(['/v1/a', '/v1/a/v1/a', '/v1/ab', '/v1/a/b'])).toEqual([
    '/v1/a',
    '/v1/ab',
    '/v1/a/b',
  ]);
  expect(documentedRoutes([])).toEqual([]);
});
