import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sha256 } from '../../src/kit/storage/content-hash.ts';
import { type CatalogEntry, cachedFilePath } from '../../src/models/model-files.ts';
import { properReply, startFaultyServer } from '../doubles/faulty-server.ts';
import { tempDir } from '../harness/temp-dir.ts';

const root = join(import.meta.dirname, '..', '..');
const weights = new Uint8Array(2_000_000).map((_, index) => (index * 31) % 251);
const voice = new Uint8Array(300_000).map((_, index) => (index * 17) % 241);

const worker = `
  import { fetchEntries } from '${join(root, 'src/models/fetch.ts')}';
  const { modelsDir, entry } = JSON.parse(process.env.FETCH);
  const progress = { startDownload() {}, update() {}, finishDownload() {}, note: (line) => console.log(line) };
  console.log('fetched ' + (await fetchEntries(modelsDir, [entry], { signal: new AbortController().signal, progress })));
`;

function entryAt(origin: string): CatalogEntry {
  const file = (name: string, bytes: Uint8Array) => ({ name, bytes: bytes.length, sha256: sha256(bytes) });
  return {
    id: 'test-model',
    role: 'tts',
    engines: ['test'],
    licence: 'MIT',
    upstream: { name: 'nobody/test-model', home: 'https://models.invalid/test-model' },
    files: [file('weights.onnx', weights), file('voice.bin', voice)],
    sources: [{ kind: 'url', url: `${origin}/{name}` }],
  };
}

function fetchInProcess(modelsDir: string, entry: CatalogEntry) {
  const child = Bun.spawn([process.execPath, '-e', worker], {
    env: { ...process.env, FETCH: JSON.stringify({ modelsDir, entry }) },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  onTestFinished(() => child.kill());
  return child;
}

async function isComplete(modelsDir: string): Promise<boolean> {
  for (const bytes of [weights, voice]) {
    if (Buffer.compare(await readFile(cachedFilePath(modelsDir, sha256(bytes))), bytes) !== 0) return false;
  }
  return (await readdir(join(modelsDir, 'partial'))).length === 0;
}

test('concurrent processes download the same files once', async () => {
  const modelsDir = await tempDir();
  const server = await startFaultyServer((request) =>
    properReply(request, request.path === '/voice.bin' ? voice : weights),
  );
  const children = [1, 2, 3].map(() => fetchInProcess(modelsDir, entryAt(server.origin)));
  const outputs = await Promise.all(children.map((child) => child.stdout.text()));
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0]);
  expect(outputs.map((output) => output.trim().split('\n').at(-1)).sort()).toEqual([
    'fetched 0',
    'fetched 0',
    'fetched 2',
  ]);
  expect(server.requests.map((request) => request.path).sort()).toEqual(['/voice.bin', '/weights.onnx']);
  expect(await isComplete(modelsDir)).toBe(true);
});

test('a new process resumes the download of a killed process', async () => {
  const modelsDir = await tempDir();
  const entry = entryAt('');
  const half = weights.length / 2;
  const part = join(modelsDir, 'partial', `${sha256(weights)}.part`);
  const server = await startFaultyServer((request, index) => {
    const file = request.path === '/voice.bin' ? voice : weights;
    return { ...properReply(request, file), ...(index === 0 ? { stallAfterBytes: half } : {}) };
  });
  const atServer: CatalogEntry = { ...entry, sources: [{ kind: 'url', url: `${server.origin}/{name}` }] };
  const first = fetchInProcess(modelsDir, atServer);
  await expect.poll(async () => (await readFile(part).catch(() => undefined))?.length).toBe(half);
  first.kill('SIGKILL');
  await first.exited;

  const second = fetchInProcess(modelsDir, atServer);
  expect(await second.stdout.text()).toMatch(/fetched 2\n$/);
  expect(server.requests.map((request) => request.fromByte)).toEqual([undefined, half, undefined]);
  expect(await isComplete(modelsDir)).toBe(true);
});
