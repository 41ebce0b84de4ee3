import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { RealtimeClient, ServerEventFrame } from '../../tools/harness/clients/realtime-client.ts';
import {
  OrderedSttEngine,
  OrderedTtsEngine,
  OrderedVadEngine,
  type SttOrder,
  type TtsOrder,
  type VadOrder,
} from '../doubles/scripted-engines.ts';
import { realtimeAppOfTest } from './realtime-app.ts';

/**
 * Scripts of conversations: JSON lines, each with one key.
 *
 * - `script`: the title; with `spec`, the rule that it shows, and perhaps `dialects`, `query`,
 *   and `unasked`: the client does not ask for a dialect when it connects. Comes first.
 * - `>`: the client sends this event, this text, or `{"binary": bytes}`.
 * - `<`: the very next event of the server fits this pattern. `<*`: any number of such events may come before the next one.
 * - `=`: all that was asked has been handled and nothing more came.
 * - `!`: an order to an engine of the test (`test/doubles/scripted-engines.ts`).
 * - `#`: a comment.
 *
 * In a pattern, an object fits when each of its fields does, a list when all of it does. `"?"` is anything that
 * is there, `"$name"` the value captured under that name before, `"~words"` a text that contains them, `null` null.
 * What is sent may have `"$name"` too, and `"$pcm:100"`: 100 ms of silence at 24 kHz in base64.
 *
 * Scripts are written in the words of the specification. With the GA names the same ones are expected, and the
 * events that only GA clients receive are skipped; a script of the GA dialect alone names them as they are.
 */
interface Line {
  readonly script?: string;
  readonly spec?: string;
  readonly dialects?: readonly ('spec' | 'ga')[];
  readonly query?: string;
  readonly unasked?: boolean;
  readonly '>'?: unknown;
  readonly '<'?: unknown;
  readonly '<*'?: unknown;
  readonly '='?: unknown;
  readonly '!'?: SttOrder | TtsOrder | VadOrder;
  readonly '#'?: string;
}

export interface Script {
  readonly title: string;
  readonly spec: string;
  readonly dialects: readonly ('spec' | 'ga')[];
  readonly query: string;
  /** The client does not say which names it wants when it connects. */
  readonly unasked: boolean;
  readonly lines: readonly Line[];
}

const BOTH = ['spec', 'ga'] as const;

/** Reads a script. @throws when a line is not one of the kinds above. */
export function readScript(path: string): Script {
  const [head = {}, ...lines] = readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text.trim() !== '')
    .map((text): Line => JSON.parse(text));
  if (head.script === undefined || head.spec === undefined) {
    throw new Error(`${path}: the first line must have 'script' and 'spec'`);
  }
  for (const line of lines) {
    const [kind = '', ...more] = Object.keys(line);
    if (more.length > 0 || !['>', '<', '<*', '=', '!', '#'].includes(kind)) {
      throw new Error(`${path}: ${JSON.stringify(line)} is not a line of a script`);
    }
  }
  const { script: title, spec, dialects = BOTH, query = '', unasked = false } = head;
  return { title, spec, dialects, query, unasked, lines };
}

/** Plays a script against the real app, and leaves when nothing is outstanding. @throws where it differs. */
export async function playScript(script: Script, dialect: 'spec' | 'ga'): Promise<void> {
  const engines = { stt: new OrderedSttEngine(), tts: new OrderedTtsEngine(), vad: new OrderedVadEngine() };
  const app = realtimeAppOfTest(engines);
  const client = await app.connect(`?${script.unasked ? '' : `events=${dialect}&`}${script.query}`);
  const told = new Told(client, script.dialects.length === 1 ? (event) => event : inSpecWords);
  const names = new Map<string, unknown>();
  /** What may come any number of times now. */
  let passed: readonly unknown[] = [];
  const isPassed = (event: ServerEventFrame) => passed.some((each) => fits(event, each, new Map(names)));
  for (const [index, line] of script.lines.entries()) {
    const at = `line ${index + 2}`;
    if ('>' in line) sendLine(client, line['>'], names);
    if ('<*' in line) passed = [...passed, line['<*']];
    if ('<' in line) {
      expectFit(await told.next(at, isPassed), line['<'], names, at);
      passed = [];
    }
    if ('=' in line) await told.nothingMore(at, isPassed);
    if ('!' in line) giveOrder(engines, line['!'] as SttOrder | TtsOrder | VadOrder);
  }
  await told.nothingMore('the end', isPassed);
  await client.close('quiet');
}

/** The events of the server, one by one. */
class Told {
  readonly #client: RealtimeClient;
  readonly #words: (event: ServerEventFrame) => ServerEventFrame | undefined;
  #waiting: ServerEventFrame[] = [];

  constructor(client: RealtimeClient, words: (event: ServerEventFrame) => ServerEventFrame | undefined) {
    this.#client = client;
    this.#words = words;
  }

  /** The next one that is not passed over. */
  async next(at: string, isPassed: (event: ServerEventFrame) => boolean): Promise<ServerEventFrame> {
    for (;;) {
      const first = this.#waiting.shift();
      if (first === undefined) this.#take([await this.#came(at)]);
      else if (!isPassed(first)) return first;
    }
  }

  async nothingMore(at: string, isPassed: (event: ServerEventFrame) => boolean): Promise<void> {
    this.#take(await this.#client.handled());
    expect(
      this.#waiting.filter((event) => !isPassed(event)),
      `${at}: nothing more`,
    ).toEqual([]);
    this.#waiting = [];
  }

  async #came(at: string): Promise<ServerEventFrame> {
    try {
      return await this.#client.one();
    } catch (error) {
      throw new Error(`${at}: ${error instanceof Error ? error.message : error}`);
    }
  }

  #take(events: readonly ServerEventFrame[]): void {
    this.#waiting.push(...events.map(this.#words).filter((event) => event !== undefined));
  }
}

/** An event in the words of the specification; undefined for one that it does not have. */
function inSpecWords(event: ServerEventFrame): ServerEventFrame | undefined {
  if (/^conversation\.item\.(added|done|retrieved|truncated)$/.test(event.type)) return undefined;
  return JSON.parse(JSON.stringify(event).replace(/"(response\.)?output_(audio|text)(?=["._])/g, '"$1$2'));
}

function sendLine(client: RealtimeClient, frame: unknown, names: ReadonlyMap<string, unknown>): void {
  const { binary } = Object(frame) as { binary?: number };
  if (binary !== undefined) client.send(new Uint8Array(binary));
  else if (typeof frame === 'string') client.send(frame);
  else client.send(filled(frame, names) as object);
}

/** A value with the names in it replaced by what they stand for. */
function filled(value: unknown, names: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === 'string') {
    const [, lengthMs] = /^\$pcm:(\d+)$/.exec(value) ?? [];
    if (lengthMs !== undefined) return Buffer.alloc(Number(lengthMs) * 48).toString('base64');
    return value.startsWith('$') ? names.get(value) : value;
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, names)]));
}

function giveOrder(
  engines: { stt: OrderedSttEngine; tts: OrderedTtsEngine; vad: OrderedVadEngine },
  order: SttOrder | TtsOrder | VadOrder,
): void {
  if ('stt' in order) engines.stt.give(order);
  else if ('tts' in order) engines.tts.give(order);
  else engines.vad.give(order);
}

function expectFit(event: unknown, pattern: unknown, names: Map<string, unknown>, at: string): void {
  if (fits(event, pattern, names)) return;
  expect.fail(`${at}: expected ${short(pattern)}, came ${short(event)}`);
}

/** A value as a message shows it, without the audio in it. */
function short(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    typeof each === 'string' && each.length > 200 ? `${each.slice(0, 20)}…` : each,
  );
}

/** Whether a value fits a pattern; notes what new names stand for. */
function fits(value: unknown, pattern: unknown, names: Map<string, unknown>): boolean {
  if (typeof pattern === 'string') {
    if (pattern === '?') return value !== undefined && value !== null;
    if (pattern.startsWith('~')) return typeof value === 'string' && value.includes(pattern.slice(1));
    if (!pattern.startsWith('$')) return value === pattern;
    if (!names.has(pattern)) names.set(pattern, value);
    return value !== undefined && names.get(pattern) === value;
  }
  if (Array.isArray(pattern)) {
    return (
      Array.isArray(value) &&
      value.length === pattern.length &&
      pattern.every((each, index) => fits(value[index], each, names))
    );
  }
  if (typeof pattern !== 'object' || pattern === null) return value === pattern;
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.entries(pattern).every(([name, each]) => fits(fields[name], each, names));
}
