import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { check, initial, isQuiet, type State, type TraceEntry } from '../../trace-check/check.ts';
import { serverEventFault } from '../../trace-check/frame-schema.ts';

/** An event of the server as it came. */
export type ServerEventFrame = Readonly<Record<string, unknown>> & { readonly type: string };

/** What an event must be: its `type`, or anything that a function says. */
export type Wanted = string | ((event: ServerEventFrame) => boolean);

export interface RealtimeClientOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  /** How long any wait may take. */
  readonly timeoutMs?: number;
  /** False when the test itself breaks what the rules or schemas say, and looks at {@link RealtimeClient.faults}. */
  readonly strict?: boolean;
  /** False keeps its frames out of the trace file: those that JSON cannot hold, or too many. */
  readonly traced?: boolean;
}

/** Frames of every client of a test run are appended here, for `bun run trace-check`. */
const TRACE_FILE = process.env.REALTIME_TRACE_FILE;

/**
 * A client of /v1/realtime for tests. It keeps every frame of both sides, and judges each frame of the server by
 * the schemas and the order rules as it comes; {@link close} throws when anything was wrong.
 */
export class RealtimeClient {
  readonly entries: TraceEntry[] = [];
  /** Everything the server said. */
  readonly events: ServerEventFrame[] = [];
  /** What was wrong with it. */
  readonly faults: string[] = [];
  readonly #socket: WebSocket;
  readonly #timeoutMs: number;
  readonly #strict: boolean;
  readonly #traced: boolean;
  readonly #closed = Promise.withResolvers<{ code: number; reason: string }>();
  #state: State = initial;
  /** Events before this index were returned to a waiting call. */
  #next = 0;
  #news = Promise.withResolvers<void>();
  #probes = 0;
  #isOver = false;
  readonly #startedMs = performance.now();

  private constructor(socket: WebSocket, options: RealtimeClientOptions) {
    const { timeoutMs = 10_000, strict = true, traced = strict } = options;
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.#strict = strict;
    this.#traced = traced;
    socket.onmessage = ({ data }) => this.#received(data);
    socket.onclose = ({ code, reason }) => {
      this.#closed.resolve({ code, reason });
      this.#told();
    };
  }

  /** Resolves when the socket is open. @throws when it is refused. */
  static async connect(url: string, options: RealtimeClientOptions = {}): Promise<RealtimeClient> {
    const { headers = {}, protocols = [] } = options;
    // Bun's own options, which take headers and subprotocols together.
    const socket = new WebSocket(url, { headers, protocols: [...protocols] } as unknown as string[]);
    const client = new RealtimeClient(socket, options);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error(`the socket to ${new URL(url).pathname} was refused`));
    });
    return client;
  }

  /** The subprotocol that the server chose. */
  get protocol(): string {
    return this.#socket.protocol;
  }

  /** Resolves with the reason for which the connection ended. */
  get closed(): Promise<{ readonly code: number; readonly reason: string }> {
    return this.#closed.promise;
  }

  /** Bytes that the socket has not taken yet. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Sends an event; a string or bytes go as they are. */
  send(frame: object | string | Uint8Array): void {
    if (frame instanceof Uint8Array) {
      this.#note({ from: 'client', frame: { binary: frame.length } });
      this.#socket.send(frame);
      return;
    }
    const text = typeof frame === 'string' ? frame : JSON.stringify(frame);
    this.#note({ from: 'client', frame: parsed(text) });
    this.#socket.send(text);
  }

  /** The next event that is wanted; those before it are passed over. */
  async next(wanted: Wanted, timeoutMs = this.#timeoutMs): Promise<ServerEventFrame> {
    return (await this.collect(wanted, timeoutMs)).at(-1) as ServerEventFrame;
  }

  /** Everything up to the next event that is wanted, and that one. */
  async collect(wanted: Wanted, timeoutMs = this.#timeoutMs): Promise<ServerEventFrame[]> {
    const fits = typeof wanted === 'string' ? (event: ServerEventFrame) => event.type === wanted : wanted;
    const from = this.#next;
    const deadline = AbortSignal.timeout(timeoutMs);
    for (;;) {
      while (this.#next < this.events.length) {
        const event = this.events[this.#next++];
        if (event !== undefined && fits(event)) return this.events.slice(from, this.#next);
      }
      await this.#somethingNew(deadline, wanted, from);
    }
  }

  /** The next event of any type. */
  async one(timeoutMs = this.#timeoutMs): Promise<ServerEventFrame> {
    return await this.next(() => true, timeoutMs);
  }

  /** Waits until so much has come that a condition holds. */
  async until(holds: () => boolean, timeoutMs = this.#timeoutMs): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs);
    while (!holds()) await this.#somethingNew(deadline, 'a condition', this.#next);
  }

  /** Whether what was asked is answered and what began has ended, as far as the rules can tell. */
  get isQuiet(): boolean {
    return isQuiet(this.#state);
  }

  /**
   * Resolves when everything that was sent before has been handled.
   * @returns the events that arrived in that time, without the reply to the probe event.
   */
  async handled(timeoutMs = this.#timeoutMs): Promise<ServerEventFrame[]> {
    this.#probes += 1;
    // Refused by every server of the protocol, and changes nothing.
    const event_id = `probe_${this.#probes}`;
    this.send({ type: 'conversation.item.delete', event_id, item_id: 'none' });
    const isAnswer = ({ type, error }: ServerEventFrame) =>
      type === 'error' && (error as { event_id?: unknown }).event_id === event_id;
    return (await this.collect(isAnswer, timeoutMs)).slice(0, -1);
  }

  /** Waits until nothing is outstanding. */
  async quiet(timeoutMs = this.#timeoutMs): Promise<void> {
    await this.handled(timeoutMs);
    await this.until(() => this.isQuiet, timeoutMs);
  }

  /**
   * Disconnects. `quiet`: waits until no reply is outstanding; a missing reply is an error.
   * @throws when any frame of the server was wrong, unless the client is not strict.
   */
  async close(how: 'quiet' | 'cut' = 'cut', code = 1000): Promise<void> {
    if (!this.#isOver) {
      const isOpen = this.#socket.readyState === WebSocket.OPEN;
      if (how === 'quiet' && isOpen) await this.quiet();
      this.#isOver = true;
      this.#judge({ end: how });
      this.#write();
      if (isOpen) this.#socket.close(code);
    }
    if (this.#strict && this.faults.length > 0) {
      throw new Error(`frames of the server were wrong:\n${this.faults.slice(0, 10).join('\n')}`);
    }
  }

  /** Drops the connection without a word. */
  terminate(): void {
    (this.#socket as WebSocket & { terminate(): void }).terminate();
  }

  #received(data: unknown): void {
    if (this.#isOver) return;
    if (typeof data !== 'string') {
      this.faults.push('a binary frame');
      return;
    }
    const frame = parsed(data);
    this.#note({ from: 'server', frame });
    const { dialect } = this.#state;
    const faults = (dialect === undefined ? (['spec', 'ga'] as const) : [dialect]).map((each) =>
      serverEventFault(frame, each),
    );
    if (faults.every((fault) => fault !== undefined)) this.faults.push(`schema: ${faults[0]}`);
    this.events.push(frame as ServerEventFrame);
    this.#told();
  }

  #note(entry: TraceEntry): void {
    const at_ms = Math.round((performance.now() - this.#startedMs) * 10) / 10;
    this.#judge({ at_ms, ...entry });
  }

  #judge(entry: TraceEntry): void {
    this.entries.push(entry);
    const { state, violations } = check(this.#state, entry);
    this.#state = state;
    for (const { rule, section, message } of violations) this.faults.push(`${rule} (${section}): ${message}`);
  }

  #write(): void {
    if (TRACE_FILE === undefined || !this.#traced) return;
    const connection = randomUUID();
    const lines = this.entries.map((entry) => JSON.stringify({ connection, ...entry }));
    appendFileSync(TRACE_FILE, `${lines.join('\n')}\n`);
  }

  #told(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  async #somethingNew(deadline: AbortSignal, wanted: Wanted, from: number): Promise<void> {
    const problem = (what: string) => {
      const got = this.events.slice(from).map(({ type }) => type);
      const name = typeof wanted === 'string' ? wanted : 'an event';
      return new Error(`${what} while waiting for ${name}; came: ${got.join(', ') || 'nothing'}`);
    };
    if (this.#socket.readyState >= WebSocket.CLOSING) throw problem('the connection ended');
    deadline.throwIfAborted();
    const late = Promise.withResolvers<never>();
    const onAbort = () => late.reject(problem('time ran out'));
    deadline.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([this.#news.promise, late.promise]);
    } finally {
      deadline.removeEventListener('abort', onAbort);
    }
  }
}

/** The JSON of a text; a text that is none as itself. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
