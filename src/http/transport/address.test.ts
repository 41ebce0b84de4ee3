import { expect, test } from 'vitest';
import { pageUrl, withRoutableUrl } from './address.ts';

/** A request whose URL is not normalized, as the server creates it. */
function requestTo(url: string, headers: Record<string, string> = { host: 'test' }): Request {
  return Object.defineProperty(new Request('http://test/', { headers }), 'url', {
    value: url,
    configurable: true,
  });
}

test.each([
  ['http://test/v1/models', 'http://test/v1/models'],
  ['https://test/v1/models', 'http://test/v1/models'],
  ['http://test//v1/models', 'http://test/v1/models'],
  ['http://test/v1//chat///completions', 'http://test/v1/chat/completions'],
  ['http://test//', 'http://test/'],
  ['http://test//v1//files?after=a//b&url=http://x//y', 'http://test/v1/files?after=a//b&url=http://x//y'],
  ['http://test?x=//', 'http://test?x=//'],
  ['http://test/v1/models/a%2F%2Fb', 'http://test/v1/models/a%2F%2Fb'],
])('%s is routed as %s', (given, routed) => {
  expect(withRoutableUrl(requestTo(given)).url).toBe(routed);
});

test('a request without a host gets one', () => {
  expect(withRoutableUrl(requestTo('/v1//models', {})).url).toBe('http://localhost/v1/models');
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['0.0.0.0', 'http://localhost:8080'],
  ['::', 'http://localhost:8080'],
  ['::1', 'http://[::1]:8080'],
  ['[::1]', 'http://[::1]:8080'],
  ['voice.example.com', 'http://voice.example.com:8080'],
])('the pages of a server at %s are at %s', (host, url) => {
  expect(pageUrl(host, 8080)).toBe(url);
});
