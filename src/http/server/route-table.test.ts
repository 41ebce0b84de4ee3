import { Elysia } from 'elysia';
import { describe, expect, test } from 'vitest';
import { StartError } from '../../contract/core/error.ts';
import type { RouteMethod } from '../../contract/route.ts';
import { methodsOf, routeTable } from './route-table.ts';

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

const route = (method: RouteMethod, path: string) => ({ method, path, operation: {} });
const named = routeTable(PATTERNS.map((path) => route('GET', path)));

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
    expect(named.at(path)).toEqual([route('GET', pattern)]);
    const app = new Elysia();
    for (const each of PATTERNS) app.get(each, ({ route }) => route);
    const response = await app.handle(new Request(`http://127.0.0.1${path}`));
    expect(await response.text()).toBe(pattern);
  });

  test('in any order of the routes', () => {
    const reversed = routeTable([...PATTERNS].reverse().map((path) => route('GET', path)));
    for (const path of [
      '/v1/videos/extensions',
      '/v1/videos/extensions/content',
      '/docs/index',
      '/docs/x/y',
    ]) {
      expect(reversed.at(path)).toEqual(named.at(path));
    }
  });
});

const table = routeTable([
  route('GET', '/v1/videos/:id'),
  route('DELETE', '/v1/videos/:id'),
  route('POST', '/v1/videos/extensions'),
]);

test('methods of other patterns do not count', () => {
  const methods = (path: string) => methodsOf(table.at(path));
  expect(methods('/v1/videos/extensions')).toEqual(['POST']);
  expect(methods('/v1/videos/video_1')).toEqual(['GET', 'HEAD', 'DELETE']);
  expect(methods('/v1/videos')).toEqual([]);
  // A pattern is not a path.
  expect(methods('/v1/videos/:id')).toEqual(['GET', 'HEAD', 'DELETE']);
});

test('only documented paths are suggested', () => {
  const hidden = { ...route('GET', '/v1/secrets'), operation: undefined };
  const { similarTo } = routeTable([route('GET', '/v1/videos/:id'), hidden]);
  expect(similarTo('/v1/vidoes/video_1')).toBe('/v1/videos/video_1');
  expect(similarTo('/v1/secret')).toBeUndefined();
});

describe('a method of a path', () => {
  test.each([
    ['/v1/cups', '/v1/cups'],
    ['/v1/cups/:id', '/v1/cups/:name'],
  ])('that two routes have is an error: %s and %s', (one, other) => {
    const routes = [route('GET', one), route('POST', other), route('GET', other)];
    expect(() => routeTable(routes)).toThrow(
      new StartError(`Two routes are GET ${other}: each method of a path has one.`),
    );
  });

  test('can have other names of parameters than another method', () => {
    const table = routeTable([route('GET', '/v1/cups/:id'), route('POST', '/v1/cups/:name')]);
    expect(methodsOf(table.at('/v1/cups/1'))).toEqual(['GET', 'HEAD', 'POST']);
  });
});
