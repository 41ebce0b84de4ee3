import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import type { WholeInput } from '../line-reader.ts';
import { type BatchInput, InputChecks, type InputChecksOptions } from './pool.ts';
import type { InputCheckMessage } from './process.ts';

const LINE = (id: number) => `${JSON.stringify({ custom_id: `${id}`, body: { model: 'm', input: 'x' } })}\n`;
const never = new AbortController().signal;

function checks(options: Partial<InputChecksOptions> = {}) {
  return new InputChecks({ maxLineBytes: 65_536, waiting: 8, ...options });
}

const ORDER = { endpoint: '/v1/embeddings', organization: 'a' } as const;

function input(bytes: AsyncIterable<Uint8Array>): BatchInput {
  return { ...ORDER, open: async () => ({ kind: 'bytes', bytes }) };
}

/** An input that is a file of this machine, and whether it was closed. */
async function fileInput(text: string) {
  const path = join(await tempDir(), 'input.jsonl');
  await writeFile(path, text);
  let isClosed = false;
  const openFile = async (): Promise<WholeInput> => {
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

/** A process that does as it is told instead of checking. */
async function script(text: string): Promise<string> {
  const path = join(await tempDir(), 'worker.ts');
  await writeFile(path, text);
  return path;
}

describe('a file', () => {
  it('is judged wherever it is cut', async () => {
    const text = LINE(1) + LINE(2);
    const verdict = await checks().check(input(pieces(text.slice(0, 7), text.slice(7))), never);
    expect(verdict).toEqual({ kind: 'sound', total: 2, model: 'm' });
  });

  it('is read no further than its verdict needs', async () => {
    let read = 0;
    let ended = false;
    async function* faulty() {
      try {
        for (; read < 100_000; read += 1) yield* pieces('not json\n'.repeat(1000));
      } finally {
        ended = true;
      }
    }
    const verdict = await checks().check(input(faulty()), never);
    expect(verdict).toMatchObject({ kind: 'faulty', faults: { length: 100 } });
    expect(read).toBeLessThan(100_000);
    expect(ended).toBe(true);
  });

  it('that cannot be read fails the check as it failed', async () => {
    const lost = new Error('the store is gone');
    async function* broken() {
      yield* pieces(LINE(1));
      throw lost;
    }
    await expect(checks().check(input(broken()), never)).rejects.toBe(lost);
  });
});

describe('a file of this machine', () => {
  it('is read by the process itself, and closed', async () => {
    const { input: whole, isClosed } = await fileInput(LINE(1) + LINE(2) + LINE(1));
    expect(await checks().check(whole, never)).toMatchObject({
      kind: 'faulty',
      faults: [{ code: 'duplicate_custom_id', line: 3 }],
    });
    expect(isClosed()).toBe(true);
  });

  it('that is deleted meanwhile is read to its end', async () => {
    const { input: whole, path } = await fileInput(LINE(1) + LINE(2));
    const deleted = async () => {
      const file = await whole.open();
      await rm(path);
      return file;
    };
    const verdict = await checks().check({ ...whole, open: deleted }, never);
    expect(verdict).toEqual({ kind: 'sound', total: 2, model: 'm' });
  });

  it('that cannot be opened fails the check as it failed, and gives the turn back', async () => {
    const lost = new Error('gone');
    const all = checks();
    const failing = { ...ORDER, open: () => Promise.reject(lost) };
    await expect(all.check(failing, never)).rejects.toBe(lost);
    const { input: whole } = await fileInput(LINE(1));
    expect(await all.check(whole, never)).toMatchObject({ kind: 'sound' });
  });

  it('is closed after an abort, and after a process that ends or hangs', async () => {
    const hanging = await script('setInterval(() => undefined, 1000);');
    const reason = new Error('cancelled');
    const controller = new AbortController();
    const left = await fileInput(LINE(1));
    const leaving = checks({ entry: hanging }).check(left.input, controller.signal);
    setImmediate(() => controller.abort(reason));
    await expect(leaving).rejects.toBe(reason);
    expect(left.isClosed()).toBe(true);

    const stalled = await fileInput(LINE(1));
    const stalling = checks({ entry: hanging, stallLimitMs: 100 }).check(stalled.input, never);
    await expect(stalling).rejects.toThrow('hangs');
    expect(stalled.isClosed()).toBe(true);

    const broken = await fileInput(LINE(1));
    const entry = await script('process.exit(3);');
    await expect(checks({ entry }).check(broken.input, never)).rejects.toThrow('ended before');
    expect(broken.isClosed()).toBe(true);
  });

  it('may take longer than the limit while the process says that it reads', async () => {
    const entry = await script(`
      const until = performance.now() + 2500;
      const say = () => {
        if (performance.now() > until) return process.send({ kind: 'sound', total: 7, model: 'm' });
        process.send({ kind: 'reads' });
        setTimeout(say, 50);
      };
      say();
    `);
    const { input: whole } = await fileInput(LINE(1));
    const verdict = await checks({ entry, stallLimitMs: 2000 }).check(whole, never);
    expect(verdict).toMatchObject({ total: 7 });
  });
});

it('a process that reads says so every 8 MiB', async () => {
  const { path } = await fileInput(`${' '.repeat(99)}\n`.repeat(200_000) + LINE(1));
  const said: InputCheckMessage[] = [];
  const over = Promise.withResolvers<void>();
  const child = Bun.spawn({
    cmd: [process.execPath, join(import.meta.dirname, 'worker.ts'), ORDER.endpoint, '65536'],
    stdio: [Bun.file(path), 'ignore', 'ignore'],
    serialization: 'advanced',
    ipc: (message: InputCheckMessage) => {
      said.push(message);
      if (message.kind !== 'reads') over.resolve();
    },
  });
  await over.promise;
  child.kill('SIGKILL');
  await child.exited;
  expect(said.map(({ kind }) => kind)).toEqual(['reads', 'reads', 'sound']);
});

describe('an abort', () => {
  it('ends a check that waits for bytes', async () => {
    const reason = new Error('cancelled');
    const controller = new AbortController();
    async function* endless() {
      yield* pieces(LINE(1));
      controller.abort(reason);
      await new Promise(() => undefined);
    }
    await expect(checks().check(input(endless()), controller.signal)).rejects.toBe(reason);
  });

  it('ends a check that waits for its verdict', async () => {
    const reason = new Error('cancelled');
    const controller = new AbortController();
    const entry = await script('setInterval(() => undefined, 1000);');
    async function* whole() {
      yield* pieces(LINE(1));
      setImmediate(() => controller.abort(reason));
    }
    await expect(checks({ entry }).check(input(whole()), controller.signal)).rejects.toBe(reason);
  });
});

describe('a process', () => {
  it('that ends without a verdict fails the check', async () => {
    const entry = await script('process.exit(3);');
    await expect(checks({ entry }).check(input(pieces(LINE(1))), never)).rejects.toThrow('ended before');
  });

  it.each(['takes nothing', 'says nothing'])('that %s is ended', async (what) => {
    const entry = await script(
      what === 'takes nothing'
        ? 'setInterval(() => undefined, 1000);'
        : 'for await (const _ of Bun.stdin.stream()); setInterval(() => undefined, 1000);',
    );
    const much = pieces(...Array.from({ length: 64 }, () => LINE(1).repeat(1000)));
    const checking = checks({ entry, stallLimitMs: 300 }).check(input(much), never);
    await expect(checking).rejects.toThrow('hangs');
  });

  it('need not say anything while the store gives it nothing to read', async () => {
    const entry = await script("process.send({ kind: 'reads' }); setInterval(() => undefined, 1000);");
    const reason = new Error('cancelled');
    const controller = new AbortController();
    async function* slow() {
      yield* pieces(LINE(1));
      setTimeout(() => controller.abort(reason), 1000);
      await new Promise(() => undefined);
    }
    const checking = checks({ entry, stallLimitMs: 300 }).check(input(slow()), controller.signal);
    await expect(checking).rejects.toBe(reason);
  });
});

it('checks one file of an organization at a time, and no more wait than may', async () => {
  const controller = new AbortController();
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  async function* slow(name: string) {
    begun.push(name);
    await gate.promise;
    yield* pieces(LINE(1));
  }
  const all = checks({ waiting: 1 });
  const of = (name: string) =>
    all.check({ ...input(slow(name)), organization: name[0] ?? '' }, controller.signal);
  const first = of('a1');
  const second = of('a2');
  const other = of('b1');
  await expect(of('c1')).rejects.toMatchObject({ kind: 'overloaded' });
  expect(begun).toEqual(['a1', 'b1']);
  gate.resolve();
  await Promise.all([first, second, other]);
  expect(begun).toEqual(['a1', 'b1', 'a2']);
});
