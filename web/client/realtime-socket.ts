import type { Query, ServiceClient } from './service-client.ts';
import { type ServiceError, toServiceError } from './service-error.ts';

const PATH = 'v1/realtime';
/** Maximum size of the send buffer in bytes: half a minute of audio at 24 kHz. */
const MAX_BUFFERED_BYTES = 2_000_000;
const UPGRADE_REQUIRED = 426;

/** User-facing messages for WebSocket close codes. */
const CLOSE_MESSAGES: Readonly<Record<number, string>> = {
  1000: 'The service closed the connection.',
  1001: 'The service is shutting down.',
  1006: 'Connection lost.',
  1008: 'The service closed the connection.',
  1009: 'A message was too large.',
  1011: 'Internal server error.',
  1013: 'The service is overloaded; try again later.',
};

/** A client or server event. */
export interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface RealtimeSocketListener {
  /** Called with each event of the service. */
  onEvent(event: Frame): void;
  /** Called with each event that is sent. */
  onSent?(event: Frame): void;
  /**
   * Called once when the connection ends, unless the page closed it.
   * @param message user-facing.
   * @param wasOpen false if the handshake failed; {@link handshakeError} returns the reason.
   */
  onClose(message: string, wasOpen: boolean): void;
}

/** A WebSocket to `/v1/realtime`. The caller closes it. */
export class RealtimeSocket {
  readonly #socket: WebSocket;
  readonly #listener: RealtimeSocketListener;
  #sentEvents = 0;
  #wasOpen = false;

  /** @throws SyntaxError if the key has characters that a subprotocol must not contain. */
  constructor(client: ServiceClient, query: Query, listener: RealtimeSocketListener) {
    this.#listener = listener;
    const { address, protocols } = client.socket(PATH, query);
    this.#socket = new WebSocket(address, protocols);
    this.#socket.onopen = () => {
      this.#wasOpen = true;
    };
    this.#socket.onmessage = ({ data }) => listener.onEvent(JSON.parse(data as string) as Frame);
    this.#socket.onclose = ({ code, reason }) => {
      const message = CLOSE_MESSAGES[code] ?? `Connection closed (${code}).`;
      this.close();
      listener.onClose(reason === '' ? message : `${message} ${reason}`, this.#wasOpen);
    };
  }

  /** Whether the network is too slow for live audio. */
  get isCongested(): boolean {
    return this.#socket.bufferedAmount > MAX_BUFFERED_BYTES;
  }

  /**
   * Sends an event. It gets a new id, which errors refer to, unless it has one. Does nothing once the connection is closing.
   * @returns the id.
   */
  send(event: Frame): string {
    this.#sentEvents += 1;
    const eventId = `page_${this.#sentEvents}`;
    const frame = { event_id: eventId, ...event };
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.#listener.onSent?.(frame);
      this.#socket.send(JSON.stringify(frame));
    }
    return frame.event_id;
  }

  close(): void {
    this.#socket.onopen = null;
    this.#socket.onmessage = null;
    this.#socket.onclose = null;
    this.#socket.close(1000);
  }
}

/**
 * Returns why a handshake failed, which browsers do not expose: the same request over HTTP returns the error. Undefined if
 * the service would accept a connection now.
 * @throws the reason of `signal`.
 */
export async function handshakeError(
  client: ServiceClient,
  query: Query,
  signal: AbortSignal,
): Promise<ServiceError | undefined> {
  try {
    await client.get(PATH, { query, signal });
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toServiceError(thrown);
    // The expected response to a request without an upgrade.
    return error.status === UPGRADE_REQUIRED ? undefined : error;
  }
  return undefined;
}
