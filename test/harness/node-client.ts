import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { PATIENCE_MS } from '../../tools/harness/patience.ts';
import { check, type FrameEntry, initial, type Violation } from '../../tools/trace-check/check.ts';

const FOLDER = join(import.meta.dirname, '../clients');

/** A client under test in a separate process, usually of Node; see test/clients/bridge.mjs. */
export interface NodeClient {
  /** Messages that the client has printed so far. */
  readonly messages: readonly ClientMessage[];
  /** Sends a command to the client. */
  do(command: Readonly<Record<string, unknown>>): void;
  /** Resolves with the first matching message. @throws Error with the latest messages if the process exits first. */
  until(description: string, matches: (message: ClientMessage) => boolean): Promise<ClientMessage>;
  /** Resolves with the next event of a type after the latest result of this method. */
  event(type: string): Promise<WireEvent>;
  /** All events of a type so far. */
  events(type: string): WireEvent[];
  /** Ends the process. Fails if frames of its connection violated the order rules. */
  end(): Promise<void>;
}

export interface ClientMessage {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of a client
  readonly [name: string]: any;
}

export type WireEvent = { readonly type: string; readonly [name: string]: ClientMessage[string] };

/** The function of the test context, which concurrent tests must pass. */
type OnFinished = (end: () => Promise<void>) => void;

/** Starts a client that ends with the test. */
export function openNodeClient(
  script: string,
  ask: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
  onFinished: OnFinished = onTestFinished,
): NodeClient {
  // Node 20 needs a flag for the global WebSocket.
  const node = [nodePath(), '--experimental-websocket', '--no-warnings'];
  return openClient([...node, join(FOLDER, script), JSON.stringify(ask)], env, onFinished);
}

/** Starts a client with any command. It ends with the test. */
export function openClient(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
  onFinished: OnFinished = onTestFinished,
): NodeClient {
  const child = Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const messages: ClientMessage[] = [];
  const errors = new Response(child.stderr).text();
  let ended = false;
  let rules = initial;
  const violations: Violation[] = [];
  const checkFrame = (entry: FrameEntry) => {
    const checked = check(rules, entry);
    rules = checked.state;
    violations.push(...checked.violations);
  };
  let wake = Promise.withResolvers<void>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const next = JSON.parse(line) as ClientMessage;
        if (next.kind === 'frame') checkFrame({ from: next.from, frame: next.frame });
        else messages.push(next);
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
  onFinished(end);

  let nextIndex = 0;
  /** Index of the first matching message from an index on. */
  async function find(
    description: string,
    from: number,
    matches: (message: ClientMessage) => boolean,
  ): Promise<number> {
    for (let at = from; ; at++) {
      while (at >= messages.length) {
        if (ended)
          throw new Error(`the client ended before ${description}: ${brief(messages)}\n${await errors}`);
        await within(wake.promise, () => new Error(`no ${description}: ${brief(messages)}`));
      }
      const next = messages[at];
      if (next && matches(next)) return at;
    }
  }
  return {
    messages,
    do(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      void child.stdin.flush();
    },
    async until(description, matches) {
      return messages[await find(description, 0, matches)] as ClientMessage;
    },
    async event(type) {
      const at = await find(type, nextIndex, (it) => it.kind === 'event' && it.event.type === type);
      nextIndex = at + 1;
      return messages[at]?.event;
    },
    events: (type) =>
      messages.flatMap(({ kind, event }) => (kind === 'event' && event.type === type ? [event] : [])),
    end,
  };
}

/** Path of Node. Skips the link to Bun that `bun --bun` adds to PATH. */
export function nodePath(): string {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((path) => existsSync(path) && !basename(realpathSync(path)).startsWith('bun'));
  if (found === undefined) throw new Error('Node is not in PATH');
  return found;
}

/** @throws the error of `timeoutError` if the promise does not resolve within {@link PATIENCE_MS}. */
async function within(promise: Promise<void>, timeoutError: () => Error): Promise<void> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(timeoutError()), PATIENCE_MS);
  try {
    await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The latest messages, shortened for an error message. */
function brief(messages: readonly ClientMessage[]): string {
  return messages
    .slice(-30)
    .map((it) => JSON.stringify(it).slice(0, 200))
    .join('\n');
}
