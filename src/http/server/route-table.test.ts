import { Elysia } from 'elysia';
import { describe, expect, test } from 'vitest';
import { routeTable, UPLOAD_BYTES } from './route-table.ts';

const PATTERNS = [
  '/v1/videos/:id',
  '/v1/videos/extensions',
  '/v1/videos/:id/content',
  '/v1/videos/extensions/:part',
  '/v1/usage/:id',
  '/v1/usage/summary',
  '/v1/audio/voices/:voice_id',
  '/v1/audio/:kind/list',
  '/docs/*',
  '/docs/:page',
  '/docs/index',
];

/** Each pattern has its own path as a method, so that the methods of a path identify its pattern. */
const named = routeTable(PATTERNS.map((path) => ({ method: path, path })));

describe('of several patterns, the most specific one counts', () => {
  test.each([
    ['/v1/videos/extensions', '/v1/videos/extensions'],
    ['/v1/videos/video_1', '/v1/videos/:id'],
    ['/v1/videos/extensions/content', '/v1/videos/extensions/:part'],
    ['/v1/videos/video_1/content', '/v1/videos/:id/content'],
    ['/v1/usage/summary', '/v1/usage/summary'],
    ['/v1/audio/voices/list', '/v1/audio/voices/:voice_id'],
    ['/v1/audio/files/list', '/v1/audio/:kind/list'],
    ['/docs/index', '/docs/index'],
    ['/docs/speech', '/docs/:page'],
    ['/docs/guide/speech', '/docs/*'],
  ])('%s is %s, as in the router', async (path, pattern) => {
    expect(named.methodsOf(path)).toEqual([pattern]);
    const app = new Elysia();
    for (const each of PATTERNS) app.get(each, ({ route }) => route);
    const response = await app.handle(new Request(`http://127.0.0.1${path}`));
    expect(await response.text()).toBe(pattern);
  });

  test('in any order of the routes', () => {
    const reversed = routeTable([...PATTERNS].reverse().map((path) => ({ method: path, path })));
    for (const path of [
      '/v1/videos/extensions',
      '/v1/videos/extensions/content',
      '/docs/index',
      '/docs/x/y',
    ]) {
      expect(reversed.methodsOf(path)).toEqual(named.methodsOf(path));
    }
  });
});

const table = routeTable([
  { method: 'GET', path: '/v1/videos/:id' },
  { method: 'DELETE', path: '/v1/videos/:id' },
  { method: 'POST', path: '/v1/videos/extensions', hooks: { detail: { [UPLOAD_BYTES]: 9 } } },
]);

test('methods of other patterns do not count', () => {
  expect(table.methodsOf('/v1/videos/extensions')).toEqual(['POST']);
  expect(table.methodsOf('/v1/videos/video_1')).toEqual(['GET', 'HEAD', 'DELETE']);
  expect(table.methodsOf('/v1/videos')).toEqual([]);
  // A pattern is not a path.
  expect(table.methodsOf('/v1/videos/:id')).toEqual(['GET', 'HEAD', 'DELETE']);
});

test('the size of an upload belongs to a method and a pattern', () => {
  expect(table.uploadBytesOf('POST', '/v1/videos/extensions')).toBe(9);
  expect(table.uploadBytesOf('GET', '/v1/videos/extensions')).toBeUndefined();
  expect(table.uploadBytesOf('POST', '/v1/videos/video_1')).toBeUndefined();
});
