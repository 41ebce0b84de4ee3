import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../../test/support/temp-dir.ts';
import { InputChecks, type InputChecksOptions } from './input-checks.ts';

const LINE = (id: number) => `${JSON.stringify({ custom_id: `${id}`, body: { model: 'm', input: 'x' } })}\n`;
const never = new AbortController().signal;

function checks(options: Partial<InputChecksOptions> = {}) {
  return new InputChecks({ mostLineBytes: 65_536, waiting: 8, ...options });
}

function input(bytes: AsyncIterable<Uint8Array>) {
  return { bytes, endpoint: '/v1/embeddings', organization: 'a' } as const;
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
