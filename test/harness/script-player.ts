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
 * - `script`: the title, in the first line; with `spec`, the rule that it tests, and optionally `dialects`, `query`,
 *   `withoutDialect`: the client connects without a dialect, and `stt`: the ids of the transcription models.
 * - `>`: the client sends this event, this text, or `{"binary": bytes}`.
 * - `<`: the next event of the server matches this pattern. `<*`: any number of matching events may precede it.
 * - `=`: all client events have been handled without further server events.
 * - `!`: a command to an engine of the test (`test/doubles/scripted-engines.ts`).
 * - `#`: a comment.
 *
 * In a pattern, an object matches if each field of the pattern matches, a list if all elements match. `"?"` matches any
 * value except null, `"$name"` captures a value or matches the captured one, `"~words"` matches a text that contains
 * the words. Client events may contain `"$name"` and `"$pcm:100"`: 100 ms of silence at 24 kHz in base64.
 *
 * Scripts use the event names of the specification. In the GA dialect, names are converted and events that only GA
 * clients receive are skipped. Scripts for the GA dialect alone use GA names.
 */
interface Line {
  readonly script?: string;
  readonly spec?: string;
  readonly dialects?: readonly ('spec' | 'ga')[];
  readonly query?: string;
  readonly withoutDialect?: boolean;
  readonly stt?: readonly string[];
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
  /** Whether the client connects without a dialect. */
  readonly withoutDialect: boolean;
  /** Ids of the transcription models. */
  readonly stt: readonly string[];
  readonly lines: readonly Line[];
}

const BOTH = ['spec', 'ga'] as const;

/** Reads a script. @throws Error for a line of an unknown kind. */
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
  const {
    script: title,
    spec,
    dialects = BOTH,
    query = '',
    withoutDialect = false,
    stt = ['svc-stt'],
  } = head;
  return { title, spec, dialects, query, withoutDialect, stt, lines };
}

/** Plays a script against the app. @throws if the events differ from the script. */
export async function playScript(script: Script, dialect: 'spec' | 'ga'): Promise<void> {
  const engines = { stt: new OrderedSttEngine(), tts: new OrderedTtsEngine(), vad: new OrderedVadEngine() };
  const app = realtimeAppOfTest({ ...engines, sttIds: script.stt });
  const client = await app.connect(`?${script.withoutDialect ? '' : `events=${dialect}&`}${script.query}`);
  const serverEvents = new ServerEvents(
    client,
    script.dialects.length === 1 ? (event) => event : withSpecNames,
  );
  const names = new Map<string, unknown>();
  /** Patterns of events that may precede the next expected event. */
  let skipped: readonly unknown[] = [];
  const isSkipped = (event: ServerEventFrame) => skipped.some((each) => matches(event, each, new Map(names)));
  for (const [index, line] of script.lines.entries()) {
    const at = `line ${index + 2}`;
    if ('>' in line) sendLine(client, line['>'], names);
    if ('<*' in line) skipped = [...skipped, line['<*']];
    if ('<' in line) {
      expectMatch(await serverEvents.next(at, isSkipped), line['<'], names, at);
      skipped = [];
    }
    if ('=' in line) await serverEvents.nothingMore(at, isSkipped);
    if ('!' in line) giveCommand(engines, line['!'] as SttOrder | TtsOrder | VadOrder);
  }
  await serverEvents.nothingMore('the end', isSkipped);
  await client.close('quiet');
}

/** The received server events, one by one. */
class ServerEvents {
  readonly #client: RealtimeClient;
  readonly #convert: (event: ServerEventFrame) => ServerEventFrame | undefined;
  #waiting: ServerEventFrame[] = [];

  constructor(client: RealtimeClient, convert: (event: ServerEventFrame) => ServerEventFrame | undefined) {
    this.#client = client;
    this.#convert = convert;
  }

  /** The next event that is not skipped. */
  async next(at: string, isSkipped: (event: ServerEventFrame) => boolean): Promise<ServerEventFrame> {
    for (;;) {
      const first = this.#waiting.shift();
      if (first === undefined) this.#add([await this.#receive(at)]);
      else if (!isSkipped(first)) return first;
    }
  }

  async nothingMore(at: string, isSkipped: (event: ServerEventFrame) => boolean): Promise<void> {
    this.#add(await this.#client.handled());
    expect(
      this.#waiting.filter((event) => !isSkipped(event)),
      `${at}: nothing more`,
    ).toEqual([]);
    this.#waiting = [];
  }

  async #receive(at: string): Promise<ServerEventFrame> {
    try {
      return await this.#client.one();
    } catch (error) {
      throw new Error(`${at}: ${error instanceof Error ? error.message : error}`);
    }
  }

  #add(events: readonly ServerEventFrame[]): void {
    this.#waiting.push(...events.map(this.#convert).filter((event) => event !== undefined));
  }
}

/** An event with the names of the specification; undefined for events of the GA dialect only. */
function withSpecNames(event: ServerEventFrame): ServerEventFrame | undefined {
  if (/^conversation\.item\.(added|done|retrieved|truncated)$/.test(event.type)) return undefined;
  return JSON.parse(JSON.stringify(event).replace(/"(response\.)?output_(audio|text)(?=["._])/g, '"$1$2'));
}

function sendLine(client: RealtimeClient, frame: unknown, names: ReadonlyMap<string, unknown>): void {
  const { binary } = Object(frame) as { binary?: number };
  if (binary !== undefined) client.send(new Uint8Array(binary));
  else if (typeof frame === 'string') client.send(frame);
  else client.send(withCaptured(frame, names) as object);
}

/** A value with captured names replaced by their values. */
function withCaptured(value: unknown, names: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === 'string') {
    const [, lengthMs] = /^\$pcm:(\d+)$/.exec(value) ?? [];
    if (lengthMs !== undefined) return Buffer.alloc(Number(lengthMs) * 48).toString('base64');
    return value.startsWith('$') ? names.get(value) : value;
  }
  if (Array.isArray(value)) return value.map((each) => withCaptured(each, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withCaptured(each, names)]));
}

function giveCommand(
  engines: { stt: OrderedSttEngine; tts: OrderedTtsEngine; vad: OrderedVadEngine },
  order: SttOrder | TtsOrder | VadOrder,
): void {
  if ('stt' in order) engines.stt.give(order);
  else if ('tts' in order) engines.tts.give(order);
  else engines.vad.give(order);
}

function expectMatch(event: unknown, pattern: unknown, names: Map<string, unknown>, at: string): void {
  if (matches(event, pattern, names)) return;
  expect.fail(`${at}: expected ${short(pattern)}, received ${short(event)}`);
}

/** JSON of a value for an error message, with long texts shortened. */
function short(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    typeof each === 'string' && each.length > 200 ? `${each.slice(0, 20)}…` : each,
  );
}

/** Whether a value matches a pattern. Captures the values of new names. */
function matches(value: unknown, pattern: unknown, names: Map<string, unknown>): boolean {
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
      pattern.every((each, index) => matches(value[index], each, names))
    );
  }
  if (typeof pattern !== 'object' || pattern === null) return value === pattern;
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.entries(pattern).every(([name, each]) => matches(fields[name], each, names));
}
