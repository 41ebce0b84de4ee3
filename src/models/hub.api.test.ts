import { readFileSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type HubServerOptions, startHubServer } from '../../test/doubles/hub-server.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { Secret } from '../contract/core/secret.ts';
import { sha256 } from '../kit/storage/content-hash.ts';
import { fetchProgress } from './fetch-progress.ts';
import { fetchHubFiles } from './hub.ts';
import { type HubFiles, resolveHubFiles } from './hub-reference.ts';

const WEIGHTS = new Uint8Array(3_000_000).map((_, index) => (index * 31) % 251);
const CONFIG = new TextEncoder().encode('{"layers": 2}');
const REPOSITORY = 'owner/model';
const AT = `${REPOSITORY}/resolve/main`;
const FILES: HubFiles = { repository: REPOSITORY, paths: ['config.json', 'sub/weights.gguf'] };
const ON_HUB = {
  [`${AT}/config.json`]: { bytes: CONFIG, isLarge: false },
  [`${AT}/sub/weights.gguf`]: { bytes: WEIGHTS, isLarge: true },
};
const WEIGHTS_ONLY: HubFiles = { repository: REPOSITORY, paths: ['sub/weights.gguf'] };

type Intercept = NonNullable<HubServerOptions['intercept']>;

async function setUp(options: Partial<HubServerOptions> & { token?: string } = {}) {
  const server = await startHubServer({ files: ON_HUB, ...options });
  const modelsDir = await tempDir();
  const notes: string[] = [];
  const progress = fetchProgress(
    (note) => notes.push(note),
    () => 0,
  );
  const hub = { endpoint: server.origin, token: options.token ? new Secret(options.token) : undefined };
  const timing = { attempts: 3, backoffMs: 1, stallTimeoutMs: 5000 };
  const fetchFiles = (files = FILES, signal = new AbortController().signal) =>
    fetchHubFiles(modelsDir, files, { signal, progress, hub, timing });
  return { server, modelsDir, notes, progress, fetchFiles };
}

/** Sends the head of a response and a part of the body, then closes the connection. */
const cut = (bytes: number): Intercept => {
  let isCut = false;
  return ({ server, method }, response) => {
    if (server !== 'storage' || method !== 'GET' || isCut) return false;
    isCut = true;
    response.writeHead(200, { 'content-length': WEIGHTS.length });
    response.write(WEIGHTS.subarray(0, bytes), () => response.destroy());
    return true;
  };
};

test('downloads small and large files, verifies and records them; a second call needs no server', async () => {
  const { server, modelsDir, progress, fetchFiles } = await setUp();
  expect(resolveHubFiles(modelsDir, FILES)).toBeUndefined();
  expect(await fetchFiles()).toBe(2);
  const total = CONFIG.length + WEIGHTS.length;
  expect(progress).toMatchObject({ doneBytes: total, totalBytes: total });
  const paths = resolveHubFiles(modelsDir, FILES);
  expect(sha256(readFileSync(paths?.['sub/weights.gguf'] ?? ''))).toBe(sha256(WEIGHTS));
  expect(paths?.['config.json']).toBe(join(modelsDir, 'sha256', sha256(CONFIG)));
  expect(await readdir(join(modelsDir, 'partial'))).toEqual([]);
  const count = server.requests.length;
  expect(await fetchFiles()).toBe(0);
  expect(server.requests).toHaveLength(count);
});

test('an optional file is downloaded if the repository has it', async () => {
  const { server, modelsDir, notes, fetchFiles } = await setUp();
  const optional = (path: string): HubFiles => ({ ...WEIGHTS_ONLY, optionalPaths: [path] });
  expect(await fetchFiles(optional('CARD'))).toBe(1);
  expect(notes).toContain('owner/model/CARD is not downloaded: HTTP 404: owner/model has no file CARD.');
  const count = server.requests.length;
  expect(await fetchFiles(optional('CARD'))).toBe(0);
  expect(server.requests).toHaveLength(count);
  const files = { ...FILES, paths: ['config.json'], optionalPaths: ['sub/weights.gguf'] };
  expect(await fetchFiles(files)).toBe(1);
  expect(resolveHubFiles(modelsDir, FILES)).toBeDefined();
});

test('the token is sent to the hub, and never to the storage server', async () => {
  const { server, fetchFiles } = await setUp({ token: 'hf_secret' });
  await fetchFiles();
  const tokens = (name: string) =>
    new Set(
      server.requests.filter(({ server }) => server === name).map(({ authorization }) => authorization),
    );
  expect(tokens('hub')).toEqual(new Set(['Bearer hf_secret']));
  expect(tokens('storage')).toEqual(new Set([undefined]));
});

test('a renamed repository is followed on the same server', async () => {
  const { fetchFiles } = await setUp({
    intercept: ({ path }, response) => {
      if (!path.startsWith(`${AT}/`)) return false;
      response.writeHead(307, { location: `/new/name/resolve/main/${path.slice(AT.length + 1)}` }).end();
      return true;
    },
    files: Object.fromEntries(
      Object.entries(ON_HUB).map(([path, file]) => [path.replace(REPOSITORY, 'new/name'), file]),
    ),
  });
  expect(await fetchFiles()).toBe(2);
});

describe('interruptions', () => {
  test('a truncated response is resumed with a new signed URL', async () => {
    const { server, modelsDir, fetchFiles } = await setUp({ intercept: cut(2_000_000) });
    expect(await fetchFiles(WEIGHTS_ONLY)).toBe(1);
    const stored = server.requests.filter((request) => request.server === 'storage');
    expect(stored.map(({ range }) => range)).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
    // One to find the file, and one for each attempt.
    expect(
      server.requests.filter(({ server, method }) => server === 'hub' && method === 'HEAD'),
    ).toHaveLength(3);
    const paths = resolveHubFiles(modelsDir, WEIGHTS_ONLY);
    expect(sha256(readFileSync(paths?.['sub/weights.gguf'] ?? ''))).toBe(sha256(WEIGHTS));
  });

  test('an aborted download keeps its bytes and is resumed by the next call', async () => {
    const stop = new AbortController();
    let isFirst = true;
    const { server, modelsDir, progress, fetchFiles } = await setUp({
      intercept: (request, response) => {
        if (request.server !== 'storage' || !isFirst) return false;
        isFirst = false;
        response.writeHead(200, { 'content-length': WEIGHTS.length });
        response.write(WEIGHTS.subarray(0, 1_000_000));
        return true;
      },
    });
    const partPath = join(modelsDir, 'partial', `${sha256(WEIGHTS)}.part`);
    const reason = new Error('the service stops');
    const { promise: received, resolve } = Promise.withResolvers<void>();
    const update = progress.update.bind(progress);
    progress.update = (bytes) => {
      update(bytes);
      if (bytes >= 1_000_000) resolve();
    };
    const running = fetchFiles(WEIGHTS_ONLY, stop.signal);
    await received;
    stop.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(Bun.file(partPath).size).toBe(1_000_000);
    expect(await fetchFiles(WEIGHTS_ONLY)).toBe(1);
    expect(server.requests.at(-1)?.range).toBe('bytes=1000000-');
  });

  test('temporary errors of the hub are retried', async () => {
    let failures = 2;
    const { fetchFiles, notes } = await setUp({
      intercept: ({ server }, response) => {
        if (server !== 'hub' || failures === 0) return false;
        failures -= 1;
        response.writeHead(503).end();
        return true;
      },
    });
    expect(await fetchFiles(WEIGHTS_ONLY)).toBe(1);
    expect(notes.filter((note) => note.includes('HTTP status 503'))).toHaveLength(2);
  });
});

describe('errors', () => {
  const status = (code: number, headers = {}): Intercept => {
    return (_, response) => {
      response.writeHead(code, headers).end();
      return true;
    };
  };

  test.each([
    [
      401,
      {},
      undefined,
      /HTTP 401: the repository owner\/model does not exist or requires a token; set HF_TOKEN/,
    ],
    [401, {}, 'hf_secret', /does not exist, or the token in HF_TOKEN is invalid/],
    [
      403,
      {},
      undefined,
      /HTTP 403: no access to owner\/model; accept its conditions at .*owner\/model and set HF_TOKEN/,
    ],
    [
      404,
      { 'x-error-code': 'RepoNotFound' },
      undefined,
      /HTTP 404: the repository owner\/model does not exist/,
    ],
    [
      404,
      { 'x-error-code': 'EntryNotFound' },
      undefined,
      /HTTP 404: owner\/model has no file sub\/weights\.gguf/,
    ],
    [500, {}, undefined, /HTTP status 500/],
  ])('%i %o with token %s', async (code, headers, token, message) => {
    const { server, fetchFiles } = await setUp({
      intercept: status(code, headers),
      ...(token !== undefined && { token }),
    });
    const failure = await fetchFiles(WEIGHTS_ONLY).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ModelFetchError', message: expect.stringMatching(message) });
    expect(String(failure)).not.toContain('hf_secret');
    expect(server.requests).toHaveLength(code === 500 ? 3 : 1);
  });

  test('corrupted data of the right size is rejected and removed', async () => {
    const { modelsDir, fetchFiles } = await setUp({
      intercept: ({ server }, response) => {
        if (server !== 'storage') return false;
        response.end(WEIGHTS.map((value) => value ^ 1));
        return true;
      },
    });
    await expect(fetchFiles(WEIGHTS_ONLY)).rejects.toThrow(/checksum mismatch \(sha256/);
    expect(await readdir(join(modelsDir, 'partial'))).toEqual([]);
    expect(resolveHubFiles(modelsDir, WEIGHTS_ONLY)).toBeUndefined();
  });

  test('a corrupted small file is rejected by the SHA-1 of git', async () => {
    const { fetchFiles } = await setUp({
      intercept: ({ server, method, path }, response) => {
        if (server !== 'hub' || method !== 'GET' || !path.endsWith('config.json')) return false;
        response.end(CONFIG.map((value) => value ^ 1));
        return true;
      },
    });
    await expect(fetchFiles()).rejects.toThrow(/checksum mismatch \(sha1 of the git blob/);
  });

  test('a response without checksum is rejected', async () => {
    const { fetchFiles } = await setUp({ intercept: status(200) });
    await expect(fetchFiles(WEIGHTS_ONLY)).rejects.toThrow('the server reports no checksum and size');
  });

  test('a server that cannot be reached', async () => {
    const modelsDir = await tempDir();
    const hub = { endpoint: 'http://127.0.0.1:1', token: undefined };
    const timing = { attempts: 2, backoffMs: 1 };
    const progress = fetchProgress(
      () => undefined,
      () => 0,
    );
    const signal = new AbortController().signal;
    await expect(
      fetchHubFiles(modelsDir, WEIGHTS_ONLY, { signal, progress, hub, timing }),
    ).rejects.toMatchObject({ name: 'ModelFetchError' });
  });

  test.skipIf(process.platform !== 'linux')('a full disk (/dev/full is of Linux)', async () => {
    const { modelsDir, fetchFiles } = await setUp();
    await mkdir(join(modelsDir, 'partial'));
    await symlink('/dev/full', join(modelsDir, 'partial', `${sha256(WEIGHTS)}.part`));
    await expect(fetchFiles(WEIGHTS_ONLY)).rejects.toMatchObject({
      name: 'ModelFetchError',
      message: expect.stringContaining(`The disk of ${modelsDir} is full: 'owner/model' could not be stored`),
    });
  });

  test('a damaged file of the cache is downloaded again', async () => {
    const { modelsDir, notes, fetchFiles } = await setUp();
    await fetchFiles();
    const path = resolveHubFiles(modelsDir, FILES)?.['sub/weights.gguf'] ?? '';
    await writeFile(
      path,
      WEIGHTS.map((value) => value ^ 1),
    );
    expect(await fetchFiles()).toBe(1);
    expect(notes.join()).toContain('sub/weights.gguf of owner/model is corrupt');
    expect(sha256(readFileSync(path))).toBe(sha256(WEIGHTS));
  });
});
