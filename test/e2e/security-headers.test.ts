import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selfSigned } from '../../tools/harness/servers/certificate.ts';
import {
  type LaunchedService,
  launchService,
  NO_MODELS,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { shake } from '../harness/handshake.ts';

/** Security headers in all kinds of responses of the real process, with and without TLS. */

const LISTED = 'https://app.test';

let service: LaunchedService;
let secureUrl: string;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'headers-test-'));
  const { cert, key } = selfSigned();
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key);
  service = await launchService({
    config: `${NO_MODELS}
      [http]
      allowed_origins = ["${LISTED}"]
      strict_transport_seconds = 3600
      security_contact = "mailto:security@app.test"`,
    env: {
      TLS_CERT_FILE: join(folder, 'cert.pem'),
      TLS_KEY_FILE: join(folder, 'key.pem'),
      TLS_PORT: '0',
      METRICS_PORT: '0',
    },
  });
  await rm(folder, { recursive: true });
  secureUrl = `https://127.0.0.1:${portOf('listening with TLS')}`;
});
afterAll(() => service?.stop());

const portOf = (message: string) => service.log().find(({ msg }) => msg === message)?.port;
const request = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers, tls: { rejectUnauthorized: false } } as RequestInit);

/** Paths of the public pages in the OpenAPI document. */
async function publicPages(): Promise<string[]> {
  const document = (await (await service.fetch('/swagger/json')).json()) as {
    paths: Record<
      string,
      { get?: { security?: unknown[]; responses: Record<string, { content?: object }> } }
    >;
  };
  return Object.entries(document.paths).flatMap(([path, { get }]) =>
    Object.keys(get?.responses['200']?.content ?? {}).includes('text/html') && !path.includes('{')
      ? [path]
      : [],
  );
}

describe('pages', () => {
  test('allow only their own scripts, no frames and no referrer', async () => {
    const pages = await publicPages();
    expect(pages).toEqual(expect.arrayContaining(['/', '/swagger']));
    for (const path of pages) {
      const response = await request(`${service.baseUrl}${path}`);
      const { headers } = response;
      const policy = headers.get('content-security-policy') ?? '';
      expect([path, policy]).toEqual([path, expect.stringContaining("default-src 'none'")]);
      expect([path, policy]).toEqual([path, expect.stringContaining("frame-ancestors 'none'")]);
      const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? '';
      expect([path, scripts]).toEqual([path, expect.not.stringMatching(/unsafe|https?:|\*|data:|blob:/)]);
      expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
      expect([path, headers.get('referrer-policy')]).toEqual([path, 'no-referrer']);
      expect([path, headers.get('set-cookie')]).toEqual([path, null]);
      expect([path, await response.text()]).toEqual([
        path,
        expect.not.stringMatching(/\son\w+=|javascript:/),
      ]);
    }
  });
});

describe('TLS', () => {
  test('responses have strict-transport-security only over TLS', async () => {
    for (const path of ['/healthz', '/v1/models', '/v1/nothing', '/swagger']) {
      const secure = await request(`${secureUrl}${path}`, { 'x-api-key': SERVICE_KEY });
      expect([path, secure.headers.get('strict-transport-security')]).toEqual([path, 'max-age=3600']);
      const plain = await request(`${service.baseUrl}${path}`, { 'x-api-key': SERVICE_KEY });
      expect([path, plain.headers.get('strict-transport-security')]).toEqual([path, null]);
    }
  });
});

describe('every response', () => {
  test('has nosniff and no-store and does not name the server software', async () => {
    const urls = [
      ...['/v1/models', '/v1/nothing', '/healthz', '/readyz', '/v1/usage'].map(
        (path) => service.baseUrl + path,
      ),
      `http://127.0.0.1:${portOf('metrics listening')}/metrics`,
    ];
    for (const url of urls) {
      const { headers } = await request(url, { 'x-api-key': SERVICE_KEY });
      expect([url, headers.get('x-content-type-options')]).toEqual([url, 'nosniff']);
      expect([url, headers.get('cache-control')]).toEqual([url, 'no-store']);
      expect([url, headers.get('server') ?? headers.get('x-powered-by')]).toEqual([url, null]);
    }
  });
});

test('the security contact is public', async () => {
  const response = await request(`${secureUrl}/.well-known/security.txt`);
  expect([response.status, await response.text()]).toEqual([
    200,
    expect.stringMatching(/^Contact: mailto:security@app\.test\n/),
  ]);
});

describe('origins', () => {
  test('that are listed, and the service itself, can open a WebSocket; others get 403', async () => {
    const dial = async (origin: string, url = service.baseUrl) =>
      (await shake(`${url}/v1/realtime?model=svc-tts`, { 'x-api-key': SERVICE_KEY, origin })).status;
    expect(await dial(LISTED)).toBe(101);
    expect(await dial(service.baseUrl)).toBe(101);
    expect(await dial(secureUrl, secureUrl)).toBe(101);
    expect(await dial('https://other.test')).toBe(403);
    expect(await dial('null')).toBe(403);
  });

  test('that are not listed cannot read responses', async () => {
    const read = async (origin: string) =>
      (await request(`${service.baseUrl}/v1/models`, { origin, 'x-api-key': SERVICE_KEY })).headers.get(
        'access-control-allow-origin',
      );
    expect(await read(LISTED)).toBe(LISTED);
    expect(await read('https://other.test')).toBeNull();
  });
});
