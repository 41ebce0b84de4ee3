/** A client of `/v1/realtime` with the specification's dialect. Records the arrival time of each event. */

import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';

const WAIT_LIMIT_MS = 60_000;

/** A server event with its arrival time (`performance.now()`) and the fields that benchmarks use. */
export interface Received {
  readonly type: string;
  readonly atMs: number;
  readonly item_id?: string;
  readonly response_id?: string;
  readonly audio_start_ms?: number;
  readonly audio_end_ms?: number;
  readonly transcript?: string;
  readonly response?: { readonly id: string; readonly status: string };
  readonly error?: { readonly code?: string; readonly message?: string };
}

export class TimedClient {
  readonly #socket: WebSocket;
  /** Received events that were not read. */
  readonly #events: Received[] = [];
  #arrived = Promise.withResolvers<void>();
  /** Reason of the closed connection. */
  #closed: string | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const atMs = performance.now();
      this.#events.push({ ...JSON.parse(String(data)), atMs });
      this.#wake();
    };
    socket.onclose = ({ code, reason }) => {
      this.#closed = `the socket was closed with ${code} ${reason}`;
      this.#wake();
    };
  }

  /** Connects and waits for `session.created`. @param key API key. */
  static async open(baseUrl: string, key = SERVICE_KEY): Promise<TimedClient> {
    const client = new TimedClient(openSocket(baseUrl, key));
    await client.until('session.created');
    return client;
  }

  /** Updates the session and waits for the confirmation. */
  async configure(session: object): Promise<void> {
    this.send({ type: 'session.update', session });
    await this.until('session.updated');
  }

  /** Sends an event. @returns the time (`performance.now()`). */
  send(event: { readonly type: string; readonly [field: string]: unknown }): number {
    return this.sendFrame(JSON.stringify(event));
  }

  /** Sends a serialized event. @returns the time (`performance.now()`). */
  sendFrame(frame: string): number {
    this.#socket.send(frame);
    return performance.now();
  }

  /** Reads the next event. @throws Error if none arrives in time or the socket is closed. */
  async next(): Promise<Received> {
    while (this.#events.length === 0) {
      if (this.#closed !== undefined) throw new Error(this.#closed);
      this.#arrived = Promise.withResolvers();
      const timer = setTimeout(
        () => this.#arrived.reject(new Error(`no event within ${WAIT_LIMIT_MS} ms`)),
        WAIT_LIMIT_MS,
      );
      await this.#arrived.promise.finally(() => clearTimeout(timer));
    }
    const [event] = this.#events.splice(0, 1);
    if (event === undefined) throw new Error('no event');
    return event;
  }

  /** Reads events up to the first one of a type. @throws Error for an `error` event. */
  async until(type: string): Promise<Received> {
    for (;;) {
      const event = await this.next();
      if (event.type === type) return event;
      if (event.type === 'error') throw new Error(`${event.error?.code}: ${event.error?.message}`);
    }
  }

  /** Reads all received events. */
  taken(): Received[] {
    return this.#events.splice(0);
  }

  /** Disconnects immediately; resolves when the socket is closed. */
  async close(): Promise<void> {
    this.#socket.close(1000);
    while (this.#closed === undefined) {
      this.#arrived = Promise.withResolvers();
      await this.#arrived.promise;
    }
  }

  #wake(): void {
    this.#arrived.resolve();
  }
}

/** Opens a WebSocket to `/v1/realtime` with the key in a header and without compression. */
export function openSocket(baseUrl: string, key = SERVICE_KEY): WebSocket {
  return new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/v1/realtime`, {
    headers: { authorization: `Bearer ${key}` },
    perMessageDeflate: false,
  });
}
