import { expect, test } from 'vitest';
import { pageUrl } from './address.ts';

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
