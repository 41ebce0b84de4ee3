import { expect, onTestFinished, test } from 'vitest';
import { type AskedSearch, fakeSearxng, searxngAnswer } from '../../test/doubles/fake-searxng.ts';
import { Secret } from '../contract/core/secret.ts';
import type { WebSearchSettings } from '../contract/core/settings.ts';
import { searxngSearch } from './searxng-search.ts';

const never = new AbortController().signal;
const query = { text: 'tea & cake', results: 3 };

function serverOf(response: (request: AskedSearch) => Response | Promise<Response>) {
  const server = fakeSearxng(response);
  onTestFinished(() => server.close());
  return server;
}

function searching(url: string, settings: Partial<WebSearchSettings> = {}) {
  return searxngSearch({ url, apiKey: undefined, timeoutMs: 10_000, maxResults: 10, ...settings });
}

const page = (url: string, title: unknown = 'T', content: unknown = 'C') => ({ url, title, content });

test('requests JSON with the query, domains and locale in the syntax of SearXNG', async () => {
  const server = serverOf(() => searxngAnswer([]));
  const search = searching(`${server.url}/prefix`, { apiKey: new Secret('s3cret') });
  await search.search({ ...query, domains: ['a.org', 'b.org'], country: 'at' }, never);
  await search.search({ ...query, domains: ['a', 'b', 'c', 'd', 'e'], country: '!' }, never);
  const [first, second] = server.asked;
  expect(first?.url.pathname).toBe('/prefix/search');
  expect(Object.fromEntries(first?.url.searchParams ?? [])).toEqual({
    q: 'tea & cake (site:a.org OR site:b.org)',
    format: 'json',
    language: 'de-AT',
  });
  expect(first?.headers.get('authorization')).toBe('Bearer s3cret');
  expect(Object.fromEntries(second?.url.searchParams ?? [])).toEqual({ q: 'tea & cake', format: 'json' });
});

test('returns pages in order, each URL once, up to the limit', async () => {
  const server = serverOf(() =>
    searxngAnswer([
      page('https://a.org/1', ' One \n page ', 'Some\ttext'),
      page('https://a.org/1'),
      page('javascript:alert(1)'),
      page('nowhere'),
      page(`https://a.org/${'x'.repeat(2100)}`),
      { title: 'no address' },
      page('https://b.org/2', null, 5),
      page('http://c.org/3', 'x'.repeat(400), 'y'.repeat(3000)),
      page('https://d.org/4'),
    ]),
  );
  const pages = await searching(server.url).search(query, never);
  expect(pages).toEqual([
    { url: 'https://a.org/1', title: 'One page', excerpt: 'Some text' },
    { url: 'https://b.org/2', title: 'https://b.org/2', excerpt: '' },
    { url: 'http://c.org/3', title: `${'x'.repeat(299)}…`, excerpt: `${'y'.repeat(1999)}…` },
  ]);
  expect(await searching(server.url, { maxResults: 1 }).search(query, never)).toHaveLength(1);
});

test('removes results of other domains', async () => {
  const urls = [
    'https://evil.org',
    'https://a.org.evil.org',
    'https://nota.org',
    'https://A.org/',
    'https://x.a.org/',
  ];
  const server = serverOf(() => searxngAnswer(urls.map((url) => page(url))));
  const pages = await searching(server.url).search({ ...query, domains: ['a.ORG'] }, never);
  expect(pages.map(({ url }) => url)).toEqual(['https://A.org/', 'https://x.a.org/']);
});

test('does not follow redirects', async () => {
  const elsewhere = serverOf(() => searxngAnswer([page('https://a.org')]));
  const server = serverOf(() => Response.redirect(`${elsewhere.url}/search`, 302));
  await expect(searching(server.url).search(query, never)).rejects.toMatchObject({
    kind: 'upstream',
    message: 'Web search failed: the server returned status 302; redirects are not followed.',
  });
  expect(elsewhere.asked).toEqual([]);
});

test.each([
  ['403', () => new Response('', { status: 403 }), /search\.formats/],
  [
    '500',
    () => new Response('secret words', { status: 500 }),
    /^Web search failed: the server returned status 500\.$/,
  ],
  ['HTML', () => new Response('<html>'), /is not JSON/],
  ['other JSON', () => Response.json({ results: 5 }), /has no 'results'/],
  ['a list', () => Response.json([]), /has no 'results'/],
])('a response with %s is an upstream error', async (_, response, message) => {
  const server = serverOf(response);
  await expect(searching(server.url).search(query, never)).rejects.toMatchObject({
    kind: 'upstream',
    message: expect.stringMatching(message),
  });
});

test('reads at most 1 MiB of a response', async () => {
  let sentBytes = 0;
  const server = serverOf(() => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sentBytes += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(32));
      },
    });
    return new Response(body);
  });
  await expect(searching(server.url).search(query, never)).rejects.toThrow('longer than 1048576 bytes');
  const sent = sentBytes;
  expect(sent).toBeLessThan(32 * 1024 * 1024);
});

test('fails after the timeout, and immediately after an abort', async () => {
  const server = serverOf(() => new Promise(() => undefined));
  await expect(searching(server.url, { timeoutMs: 200 }).search(query, never)).rejects.toMatchObject({
    kind: 'timeout',
    message: 'Web search timed out after 0.2 s.',
  });
  const gone = new AbortController();
  const results = searching(server.url).search(query, gone.signal);
  gone.abort(new Error('left'));
  await expect(results).rejects.toThrow('left');
  await expect(searching(server.url).search(query, gone.signal)).rejects.toThrow('left');
});

test('the error for an unreachable server does not contain its address', async () => {
  const results = searching('http://127.0.0.1:1').search(query, never);
  await expect(results).rejects.toMatchObject({
    kind: 'upstream',
    message: 'Web search failed: the server is unreachable or closed the connection.',
  });
});

test('is not available without settings', async () => {
  const search = searxngSearch(undefined);
  expect(search.available).toBe(false);
  await expect(search.search(query, never)).rejects.toThrow('no search server is configured');
  expect(searching('http://127.0.0.1:1').available).toBe(true);
});
