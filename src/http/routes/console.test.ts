import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { mounted } from '../../../test/harness/mounted.ts';
import { testApp } from '../../../test/harness/test-app.ts';
import { consoleRoutes } from './console.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Console routes for a folder with these files. */
function routes(files: Readonly<Record<string, string | Uint8Array>>) {
  const folder = mkdtempSync(join(tmpdir(), 'console-test-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return mounted(consoleRoutes(folder));
}
const at = (path: string, headers: Record<string, string> = {}) =>
  new Request(`http://service.test${path}`, { headers });

const PAGE = '<meta name="style-nonce" content="{{style-nonce}}">';

test('each response of the page has a new nonce, which is part of its policy', async () => {
  const app = routes({ 'index.html': PAGE });
  const nonces = new Set<string>();
  for (let count = 0; count < 5; count += 1) {
    const response = await app.handle(at('/'));
    expect(response.headers.get('cache-control')).toBe('no-cache');
    const nonce = /content="([\w-]{22})"/.exec(await response.text())?.[1] ?? '';
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`);
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    nonces.add(nonce);
  }
  expect(nonces.size).toBe(5);
});

test('files are immutable for caches, and compressed for clients that accept gzip', async () => {
  const script = 'export const a = 1;'.repeat(50);
  const app = routes({
    'main-0a1b2c3d.js': script,
    'main-0a1b2c3d.js.gz': Bun.gzipSync(script),
    'page-1.css': 'a{}',
  });
  const plain = await app.handle(at('/console/main-0a1b2c3d.js', { 'accept-encoding': 'br' }));
  expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('vary')).toBe('accept-encoding');
  expect(await plain.text()).toBe(script);
  const small = await app.handle(at('/console/main-0a1b2c3d.js', { 'accept-encoding': 'gzip, br' }));
  expect(small.headers.get('content-encoding')).toBe('gzip');
  const bytes = new Uint8Array(await small.arrayBuffer());
  expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(script);
  const style = await app.handle(at('/console/page-1.css', { 'accept-encoding': 'gzip' }));
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(style.headers.get('content-encoding')).toBeNull();
});

test.each([
  'stamp',
  'index.html',
  'main.js.gz',
  '..%2Findex.html',
  '..%2F..%2Fpackage.json',
  'main-x.js',
  '.js',
])('returns 404 for /console/%s', async (name) => {
  const service = testApp();
  try {
    const response = await service.send(`/console/${name}`, { headers: {} });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  } finally {
    service.close();
  }
});

test('the error for a missing build contains the build command', async () => {
  const service = testApp({ consoleFolder: '/nowhere' });
  try {
    const response = await service.send('/', { headers: {} });
    expect(response.status).toBe(503);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain("Run 'bun scripts/setup.ts'");
    expect((await service.send('/healthz')).status).toBe(200);
  } finally {
    service.close();
  }
});
