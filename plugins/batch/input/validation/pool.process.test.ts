import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import type { InputSource } from '../line-reader.ts';
import { type BatchInput, ValidationPool, type ValidationPoolOptions } from './pool.ts';
import type { ValidationMessage } from './process.ts';

const LINE = (id: number) => `${JSON.stringify({ custom_id: `${id}`, body: { model: 'm', input: 'x' } })}\n`;
const never = new AbortController().signal;

function checks(options: Partial<ValidationPoolOptions> = {}) {
  return new ValidationPool({ maxLineBytes: 65_536, waiting: 8, ...options });
}

const ORDER = { endpoint: '/v1/embeddings', organization: 'a' } as const;

function input(bytes: AsyncIterable<Uint8Array>): BatchInput {
  return { ...ORDER, open: async () => ({ kind: 'bytes', bytes }) };
}

/** An input that is a local file, and whether it was closed. */
async function fileInput(text: string) {
  const path = join(await tempDir(), 'input.jsonl');
  await writeFile(path, text);
  let isClosed = false;
  const openFile = async (): Promise<InputSource> => {
    const handle = await open(path);
    const close = async () => {
      await handle.close();
      isClosed = true;
    };
    return { kind: 'file', file: { fd: handle.fd, close } };
  };
  return { input: { ...ORDER, open: openFile }, path, isClosed: () => isClosed };
}

async function* pieces(...texts: string[]) {
  for (const text of texts) yield new TextEncoder().encode(text);
}

/** A process that runs a script instead of the worker. */
async function script(text: string): Promise<string> {
  const path = join(await tempDir(), 'worker.ts');
  await writeFile(path, text);
  return path;
}

describe('a byte stream', () => {
  it('is validated independently of its chunk boundaries', async () => {
    const text = LINE(1) + LINE(2);
    const result = await checks().validateInput(input(pieces(text.slice(0, 7), text.slice(7))), never);
    expect(result).toEqual({ kind: 'valid', total: 2, model: 'm' });
  });

  it('is read only until the result is known', async () => {
    let read = 0;
    let finished = false;
    async function* faulty() {
      try {
        for (; read < 100_000; read += 1) yield* pieces('not json\n'.repeat(1000));
      } finally {
        finished = true;
      }
    }
    const result = await checks().validateInput(input(faulty()), never);
    expect(result).toMatchObject({ kind: 'invalid', errors: { length: 100 } });
    expect(read).toBeLessThan(100_000);
    expect(finished).toBe(true);
  });

  it('rejects with the error of reading', async () => {
    const lost = new Error('blob store lost');
    async function* broken() {
      yield* pieces(LINE(1));
      throw lost;
    }
    await expect(checks().validateInput(input(broken()), never)).rejects.toBe(lost);
  });
});

describe('a local file', () => {
  it('is read by the worker process and closed', async () => {
    const { input: whole, isClosed } = await fileInput(LINE(1) + LINE(2) + LINE(1));
    expect(await checks().validateInput(whole, never)).toMatchObject({
      kind: 'invalid',
      errors: [{ code: 'duplicate_custom_id', line: 3 }],
    });
    expect(isClosed()).toBe(true);
  });

  it('is read completely when it is deleted during validation', async () => {
    const { input: whole, path } = await fileInput(LINE(1) + LINE(2));
    const deleted = async () => {
      const file = await whole.open();
      await rm(path);
      return file;
    };
    const result = await checks().validateInput({ ...whole, open: deleted }, never);
    expect(result).toEqual({ kind: 'valid', total: 2, model: 'm' });
  });

  it('rejects with the error of opening it and releases the semaphore', async () => {
    const lost = new Error('gone');
    const all = checks();
    const failing = { ...ORDER, open: () => Promise.reject(lost) };
    await expect(all.validateInput(failing, never)).rejects.toBe(lost);
    const { input: whole } = await fileInput(LINE(1));
    expect(await all.validateInput(whole, never)).toMatchObject({ kind: 'valid' });
  });

  it('is closed after an abort and after a process that exits or hangs', async () => {
    const hanging = await script('setInterval(() => undefined, 1000);');
    const reason = new Error('cancelled');
    const controller = new AbortController();
    const left = await fileInput(LINE(1));
    const leaving = checks({ entry: hanging }).validateInput(left.input, controller.signal);
    setImmediate(() => controller.abort(reason));
    await expect(leaving).rejects.toBe(reason);
    expect(left.isClosed()).toBe(true);

    const stalled = await fileInput(LINE(1));
    const stalling = checks({ entry: hanging, stallTimeoutMs: 100 }).validateInput(stalled.input, never);
    await expect(stalling).rejects.toThrow('hangs');
    expect(stalled.isClosed()).toBe(true);

    const broken = await fileInput(LINE(1));
    const entry = await script('process.exit(3);');
    await expect(checks({ entry }).validateInput(broken.input, never)).rejects.toThrow('exited without');
    expect(broken.isClosed()).toBe(true);
  });

  it('may take longer than the stall timeout while the process reports progress', async () => {
    // A report every 50 ms, for longer than the timeout.
    const [reports, intervalMs] = [50, 50];
    const entry = await script(`
      let reports = 0;
      const report = () => {
        if (++reports > ${reports}) return process.send({ kind: 'valid', total: 7, model: 'm' });
        process.send({ kind: 'progress' });
        setTimeout(report, ${intervalMs});
      };
      report();
    `);
    const { input: whole } = await fileInput(LINE(1));
    const result = await checks({ entry, stallTimeoutMs: 2000 }).validateInput(whole, never);
    expect(result).toMatchObject({ total: 7 });
  });
});

it('the worker reports progress every 8 MiB', async () => {
  const { path } = await fileInput(`${' '.repeat(99)}\n`.repeat(200_000) + LINE(1));
  const said: ValidationMessage[] = [];
  const over = Promise.withResolvers<void>();
  const child = Bun.spawn({
    cmd: [process.execPath, join(import.meta.dirname, 'worker.ts'), ORDER.endpoint, '65536'],
    stdio: [Bun.file(path), 'ignore', 'ignore'],
    serialization: 'advanced',
    ipc: (message: ValidationMessage) => {
      said.push(message);
      if (message.kind !== 'progress') over.resolve();
    },
  });
  await over.promise;
  child.kill('SIGKILL');
  await child.exited;
  expect(said.map(({ kind }) => kind)).toEqual(['progress', 'progress', 'valid']);
});

describe('an abort', () => {
  it('ends a validation that waits for bytes', async () => {
    const reason = new Error('cancelled');
    const controller = new AbortController();
    async function* endless() {
      yield* pieces(LINE(1));
      controller.abort(reason);
      await new Promise(() => undefined);
    }
    await expect(checks().validateInput(input(endless()), controller.signal)).rejects.toBe(reason);
  });

  it('ends a validation that waits for its result', async () => {
    const reason = new Error('cancelled');
    const controller = new AbortController();
    const entry = await script('setInterval(() => undefined, 1000);');
    async function* whole() {
      yield* pieces(LINE(1));
      setImmediate(() => controller.abort(reason));
    }
    await expect(checks({ entry }).validateInput(input(whole()), controller.signal)).rejects.toBe(reason);
  });
});

describe('a process', () => {
  it('that exits without a result rejects', async () => {
    const entry = await script('process.exit(3);');
    await expect(checks({ entry }).validateInput(input(pieces(LINE(1))), never)).rejects.toThrow(
      'exited without',
    );
  });

  it.each(['reads nothing', 'sends nothing'])('that %s is killed', async (what) => {
    const entry = await script(
      what === 'reads nothing'
        ? 'setInterval(() => undefined, 1000);'
        : 'for await (const _ of Bun.stdin.stream()); setInterval(() => undefined, 1000);',
    );
    const much = pieces(...Array.from({ length: 64 }, () => LINE(1).repeat(1000)));
    const checking = checks({ entry, stallTimeoutMs: 300 }).validateInput(input(much), never);
    await expect(checking).rejects.toThrow('hangs');
  });

  it('does not time out while the store sends no bytes', async () => {
    const entry = await script("process.send({ kind: 'progress' }); setInterval(() => undefined, 1000);");
    const reason = new Error('cancelled');
    const controller = new AbortController();
    const stallTimeoutMs = 1000;
    async function* slow() {
      yield* pieces(LINE(1));
      setTimeout(() => controller.abort(reason), 2 * stallTimeoutMs);
      await new Promise(() => undefined);
    }
    const checking = checks({ entry, stallTimeoutMs }).validateInput(input(slow()), controller.signal);
    await expect(checking).rejects.toBe(reason);
  });
});

it('validates one file per organization at a time and limits the queue', async () => {
  const controller = new AbortController();
  const gate = Promise.withResolvers<void>();
  const started: string[] = [];
  async function* slow(name: string) {
    started.push(name);
    await gate.promise;
    yield* pieces(LINE(1));
  }
  const all = checks({ waiting: 1 });
  const of = (name: string) =>
    all.validateInput({ ...input(slow(name)), organization: name[0] ?? '' }, controller.signal);
  const first = of('a1');
  const second = of('a2');
  const other = of('b1');
  await expect(of('c1')).rejects.toMatchObject({ kind: 'overloaded' });
  expect(started).toEqual(['a1', 'b1']);
  gate.resolve();
  await Promise.all([first, second, other]);
  expect(started).toEqual(['a1', 'b1', 'a2']);
});
