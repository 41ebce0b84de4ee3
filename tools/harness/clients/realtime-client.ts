import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { check, initial, isQuiet, type State, type TraceEntry } from '../../trace-check/check.ts';
import { serverEventError } from '../../trace-check/frame-schema.ts';
import { PATIENCE_MS } from '../patience.ts';

/** A received event of the server. */
export type ServerEventFrame = Readonly<Record<string, unknown>> & { readonly type: string };

/** Selects an event by its `type` or by a predicate. */
export type Wanted = string | ((event: ServerEventFrame) => boolean);

export interface RealtimeClientOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  /** Time limit of each wait in ms. */
  readonly timeoutMs?: number;
  /** False for tests that violate the rules or schemas on purpose. */
  readonly strict?: boolean;
  /** False excludes the frames from the trace file, if they are numerous or not JSON. */
  readonly traced?: boolean;
}

/** Path of the trace file for `bun run trace-check`. All clients append their frames. */
const TRACE_FILE = process.env.REALTIME_TRACE_FILE;

/**
 * A client of /v1/realtime for tests. It records all frames, and checks each frame of the server against the schemas and the
 * order rules. {@link close} throws if there was a violation.
 */
export class RealtimeClient {
  readonly entries: TraceEntry[] = [];
  /** All events of the server. */
  readonly events: ServerEventFrame[] = [];
  /** Violations of the server. */
  readonly #violations: string[] = [];
  readonly #socket: WebSocket;
  readonly #timeoutMs: number;
  readonly #strict: boolean;
  readonly #traced: boolean;
  readonly #closed = Promise.withResolvers<{ code: number; reason: string }>();
  #state: State = initial;
  /** Events before this index were returned to a waiting call. */
  #next = 0;
  #changed = Promise.withResolvers<void>();
  #probes = 0;
  #isOver = false;
  readonly #startedMs = performance.now();

  private constructor(socket: WebSocket, options: RealtimeClientOptions) {
    const { timeoutMs = PATIENCE_MS, strict = true, traced = strict } = options;
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.#strict = strict;
    this.#traced = traced;
    socket.onmessage = ({ data }) => this.#received(data);
    socket.onclose = ({ code, reason }) => {
      this.#closed.resolve({ code, reason });
      this.#wakeWaiters();
    };
  }

  /** Resolves when the socket is open. @throws Error if the connection is rejected. */
  static async connect(url: string, options: RealtimeClientOptions = {}): Promise<RealtimeClient> {
    const { headers = {}, protocols = [] } = options;
    // Bun's options accept headers together with subprotocols.
    const socket = new WebSocket(url, { headers, protocols: [...protocols] } as unknown as string[]);
    const client = new RealtimeClient(socket, options);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error(`the socket to ${new URL(url).pathname} was rejected`));
    });
    return client;
  }

  /** The subprotocol that the server chose. */
  get protocol(): string {
    return this.#socket.protocol;
  }

  /** Resolves with the close code and reason. */
  get closed(): Promise<{ readonly code: number; readonly reason: string }> {
    return this.#closed.promise;
  }

  /** Number of bytes in the send buffer of the socket. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Sends an event; strings and bytes are sent unchanged. */
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

  /** Waits for the next matching event and skips the events before it. */
  async next(wanted: Wanted, timeoutMs = this.#timeoutMs): Promise<ServerEventFrame> {
    return (await this.collect(wanted, timeoutMs)).at(-1) as ServerEventFrame;
  }

  /** Waits for the next matching event. Returns all events up to and including it. */
  async collect(wanted: Wanted, timeoutMs = this.#timeoutMs): Promise<ServerEventFrame[]> {
    const matches = typeof wanted === 'string' ? (event: ServerEventFrame) => event.type === wanted : wanted;
    const from = this.#next;
    const deadline = AbortSignal.timeout(timeoutMs);
    for (;;) {
      while (this.#next < this.events.length) {
        const event = this.events[this.#next++];
        if (event !== undefined && matches(event)) return this.events.slice(from, this.#next);
      }
      await this.#nextChange(deadline, wanted, from);
    }
  }

  /** Waits for the next event of any type. */
  async one(timeoutMs = this.#timeoutMs): Promise<ServerEventFrame> {
    return await this.next(() => true, timeoutMs);
  }

  /** Waits until a condition holds, which is checked after each event. */
  async until(holds: () => boolean, timeoutMs = this.#timeoutMs): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs);
    while (!holds()) await this.#nextChange(deadline, 'a condition', this.#next);
  }

  /** Whether no event is outstanding according to the order rules. */
  get isQuiet(): boolean {
    return isQuiet(this.#state);
  }

  /**
   * Resolves when the server has handled all events sent before.
   * @returns the events that arrived in that time, without the reply to the probe event.
   */
  async handled(timeoutMs = this.#timeoutMs): Promise<ServerEventFrame[]> {
    this.#probes += 1;
    // Every server rejects this event, without side effects.
    const event_id = `probe_${this.#probes}`;
    this.send({ type: 'conversation.item.delete', event_id, item_id: 'none' });
    const isReply = ({ type, error }: ServerEventFrame) =>
      type === 'error' && (error as { event_id?: unknown }).event_id === event_id;
    return (await this.collect(isReply, timeoutMs)).slice(0, -1);
  }

  /** Waits until no event is outstanding. */
  async quiet(timeoutMs = this.#timeoutMs): Promise<void> {
    await this.handled(timeoutMs);
    await this.until(() => this.isQuiet, timeoutMs);
  }

  /**
   * Disconnects. `quiet`: waits until no reply is outstanding; a missing reply is an error.
   * @throws Error for violations of the server, if the client is strict.
   */
  async close(how: 'quiet' | 'cut' = 'cut', code = 1000): Promise<void> {
    if (!this.#isOver) {
      const isOpen = this.#socket.readyState === WebSocket.OPEN;
      if (how === 'quiet' && isOpen) await this.quiet();
      this.#isOver = true;
      this.#check({ end: how });
      this.#write();
      if (isOpen) this.#socket.close(code);
    }
    if (this.#strict && this.#violations.length > 0) {
      throw new Error(`frames of the server were wrong:\n${this.#violations.slice(0, 10).join('\n')}`);
    }
  }

  /** Closes the TCP connection without a close frame. */
  terminate(): void {
    (this.#socket as WebSocket & { terminate(): void }).terminate();
  }

  #received(data: unknown): void {
    if (this.#isOver) return;
    if (typeof data !== 'string') {
      this.#violations.push('a binary frame');
      return;
    }
    const frame = parsed(data);
    this.#note({ from: 'server', frame });
    const { dialect } = this.#state;
    const errors = (dialect === undefined ? (['spec', 'ga'] as const) : [dialect]).map((each) =>
      serverEventError(frame, each),
    );
    if (errors.every((error) => error !== undefined)) this.#violations.push(`schema: ${errors[0]}`);
    this.events.push(frame as ServerEventFrame);
    this.#wakeWaiters();
  }

  #note(entry: TraceEntry): void {
    const at_ms = Math.round((performance.now() - this.#startedMs) * 10) / 10;
    this.#check({ at_ms, ...entry });
  }

  #check(entry: TraceEntry): void {
    this.entries.push(entry);
    const { state, violations } = check(this.#state, entry);
    this.#state = state;
    for (const { rule, section, message } of violations)
      this.#violations.push(`${rule} (${section}): ${message}`);
  }

  #write(): void {
    if (TRACE_FILE === undefined || !this.#traced) return;
    const connection = randomUUID();
    const lines = this.entries.map((entry) => JSON.stringify({ connection, ...entry }));
    appendFileSync(TRACE_FILE, `${lines.join('\n')}\n`);
  }

  #wakeWaiters(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #nextChange(deadline: AbortSignal, wanted: Wanted, from: number): Promise<void> {
    const waitError = (what: string) => {
      const received = this.events.slice(from).map(({ type }) => type);
      const name = typeof wanted === 'string' ? wanted : 'an event';
      return new Error(`${what} while waiting for ${name}; received: ${received.join(', ') || 'nothing'}`);
    };
    if (this.#socket.readyState >= WebSocket.CLOSING) throw waitError('the connection ended');
    deadline.throwIfAborted();
    const late = Promise.withResolvers<never>();
    const onAbort = () => late.reject(waitError('time ran out'));
    deadline.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([this.#changed.promise, late.promise]);
    } finally {
      deadline.removeEventListener('abort', onAbort);
    }
  }
}

/** Parses JSON; returns other text unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
