import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { check, type FrameEntry, initial, type Violation } from '../../tools/trace-check/check.ts';

const FOLDER = join(import.meta.dirname, '../clients');

/** A client under test in a Node process of its own; see test/clients/bridge.mjs. */
export interface NodeClient {
  /** Lines that it printed so far. */
  readonly told: readonly Told[];
  /** Gives it a command. */
  do(command: Readonly<Record<string, unknown>>): void;
  /** The first matching line, past or future. @throws Error with all lines when the process exits first. */
  until(what: string, fits: (told: Told) => boolean): Promise<Told>;
  /** The first event of a type after the last one that was waited for with this. */
  event(type: string): Promise<WireEvent>;
  /** Every event of a type so far. */
  events(type: string): WireEvent[];
  /** Ends its input, and so the process. Fails when the frames of its connection broke the order rules. */
  end(): Promise<void>;
}

export interface Told {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of a client, looked into by the tests
  readonly [name: string]: any;
}

export type WireEvent = { readonly type: string; readonly [name: string]: Told[string] };

/** Starts a client. It ends with the test. */
export function openNodeClient(
  script: string,
  ask: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): NodeClient {
  const child = Bun.spawn(
    // Node 20 knows the WebSocket of browsers behind a flag.
    [nodePath(), '--experimental-websocket', '--no-warnings', join(FOLDER, script), JSON.stringify(ask)],
    { env: { PATH: process.env.PATH ?? '', ...env }, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
  );
  const told: Told[] = [];
  const errors = new Response(child.stderr).text();
  let ended = false;
  let rules = initial;
  const violations: Violation[] = [];
  const judge = (entry: FrameEntry) => {
    const judged = check(rules, entry);
    rules = judged.state;
    violations.push(...judged.violations);
  };
  let wake = Promise.withResolvers<void>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const next = JSON.parse(line) as Told;
        if (next.kind === 'frame') judge({ from: next.from, frame: next.frame });
        else told.push(next);
      }
      wake.resolve();
      wake = Promise.withResolvers<void>();
    }
    ended = true;
    wake.resolve();
  })();
  const end = async () => {
    await child.stdin.end();
    const timer = setTimeout(() => child.kill(), 2000);
    await reading;
    await child.exited;
    clearTimeout(timer);
    expect(violations).toEqual([]);
  };
  onTestFinished(end);

  let seen = 0;
  /** The place of the first that fits, from a place on. */
  async function find(what: string, from: number, fits: (told: Told) => boolean): Promise<number> {
    for (let at = from; ; at++) {
      while (at >= told.length) {
        if (ended) throw new Error(`the client ended before ${what}: ${brief(told)}\n${await errors}`);
        await within(wake.promise, () => new Error(`no ${what}: ${brief(told)}`));
      }
      const next = told[at];
      if (next && fits(next)) return at;
    }
  }
  return {
    told,
    do(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      void child.stdin.flush();
    },
    async until(what, fits) {
      return told[await find(what, 0, fits)] as Told;
    },
    async event(type) {
      const at = await find(type, seen, (it) => it.kind === 'event' && it.event.type === type);
      seen = at + 1;
      return told[at]?.event;
    },
    events: (type) =>
      told.flatMap(({ kind, event }) => (kind === 'event' && event.type === type ? [event] : [])),
    end,
  };
}

/** Path of Node; `bun --bun` puts a link to itself before it. */
export function nodePath(): string {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((path) => existsSync(path) && !basename(realpathSync(path)).startsWith('bun'));
  if (found === undefined) throw new Error('Node is not in PATH');
  return found;
}

const PATIENCE_MS = 30_000;

/** @throws the error of `late` when no new line arrives in time. */
async function within(promise: Promise<void>, late: () => Error): Promise<void> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), PATIENCE_MS);
  try {
    await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** The lines, shortened for a message. */
function brief(told: readonly Told[]): string {
  return told
    .slice(-30)
    .map((it) => JSON.stringify(it).slice(0, 200))
    .join('\n');
}
