import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { EXIT, HANG } from '../../../../test/doubles/fake-espeak-worker.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import { MAX_REQUEST_CHARACTERS } from '../shared/protocol.ts';
import { EspeakEngine, type EspeakOptions } from './engine.ts';

const FAKE = fileURLToPath(new URL('../../../../test/doubles/fake-espeak-worker.ts', import.meta.url));

async function open(options: Partial<EspeakOptions> = {}): Promise<EspeakEngine> {
  const modelsDir = await tempDir();
  const engine = new EspeakEngine({ modelsDir, environment: {}, log: silentLog, entry: FAKE, ...options });
  onTestFinished(() => engine.close());
  return engine;
}

it('answers concurrent requests with their own phonemes', async () => {
  const engine = await open();
  const requests = [
    engine.phonemes('es', ['a', 'b']),
    engine.phonemes('it', ['c']),
    engine.phonemes('fr', []),
  ];
  expect(await Promise.all(requests)).toEqual([['es:a', 'es:b'], ['it:c'], []]);
});

it('rejects an unknown voice and continues', async () => {
  const engine = await open();
  await expect(engine.phonemes('xx', ['a'])).rejects.toThrow("eSpeak has no voice 'xx'");
  expect(await engine.phonemes('es', ['a'])).toEqual(['es:a']);
});

it('fails the running request when its process exits, and answers the next ones with a new process', async () => {
  const engine = await open();
  const requests = [engine.phonemes('es', [EXIT]), engine.phonemes('es', ['a'])];
  await expect(requests[0]).rejects.toMatchObject({ name: 'ModelUnavailableError' });
  expect(await requests[1]).toEqual(['es:a']);
});

it('kills a process that does not answer', async () => {
  const engine = await open({ requestTimeoutMs: 1 });
  await expect(engine.phonemes('es', [HANG])).rejects.toMatchObject({ name: 'ModelUnavailableError' });
});

it('fails requests while the process cannot be loaded, until it can', async () => {
  const modelsDir = join(await tempDir(), 'later');
  const engine = await open({ modelsDir });
  await expect(engine.phonemes('es', ['a'])).rejects.toMatchObject({ name: 'ModelUnavailableError' });
  await mkdir(modelsDir);
  await expect.poll(() => engine.phonemes('es', ['a']).catch(() => undefined)).toEqual(['es:a']);
});

it('limits the length of a request and the number of open ones', async () => {
  const engine = await open();
  await expect(engine.phonemes('es', ['a'.repeat(MAX_REQUEST_CHARACTERS + 1)])).rejects.toThrow(RangeError);
  const requests = Array.from({ length: 17 }, () => engine.phonemes('es', ['a']));
  const outcomes = await Promise.allSettled(requests);
  expect(outcomes.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
});

it('rejects requests after it is closed', async () => {
  const engine = await open();
  const pending = engine.phonemes('es', [HANG]);
  const outcome = expect(pending).rejects.toMatchObject({ name: 'ModelUnavailableError' });
  await engine.close();
  await outcome;
  await expect(engine.phonemes('es', ['a'])).rejects.toMatchObject({ name: 'ModelUnavailableError' });
});
