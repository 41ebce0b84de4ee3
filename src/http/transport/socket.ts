/** WebSockets: the interface for features, and the settings that all WebSockets share. */

import type { ServerWebSocket, WebSocketHandler } from 'bun';
import { ServiceError } from '../../contract/core/error.ts';
import { waitForAbort } from '../../kit/async/wait-for-abort.ts';
import { serverOf } from './connection-server.ts';

/**
 * Maximum frame size. An append that exceeds the 25 MiB between commits (spec 8) must be received to be answered with an error;
 * as base64 in JSON it has about 35 MB.
 */
export const MAX_FRAME_BYTES = 36 * 1024 * 1024;
/** Seconds without a byte, including pongs, after which the connection is closed. Pings are sent before that. */
const IDLE_TIMEOUT_S = 120;
/** Maximum bytes buffered for a slow client while more audio is generated for it: one second of 24 kHz PCM as base64. */
const MAX_READY_BYTES = 64 * 1024;
/** Maximum bytes buffered in total. The connection of a client that sends requests but does not read is closed. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** Close codes (RFC 6455, 7.4.1, and the IANA registry). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  policy: 1008,
  internalError: 1011,
  tryAgainLater: 1013,
} as const;

/** Receives the events of a WebSocket, in order. The methods must not block. */
export interface SocketListener {
  opened(socket: Socket): void;
  /** @param frame a text frame as a string, a binary frame as bytes that are valid only during the call. */
  received(frame: string | Uint8Array): void;
  /** The connection is closed; nothing can be sent any more. */
  closed(): void;
}

/** One open WebSocket. */
export interface Socket {
  /** Sends a text frame, buffered until the peer reads it. Does nothing after the connection is closed. */
  send(text: string): void;
  /**
   * Resolves when the send buffer is small enough to generate more output.
   * @throws the signal's reason after an abort.
   */
  ready(signal: AbortSignal): Promise<void>;
  /** @param reason at most 123 bytes. */
  close(code: number, reason: string): void;
}

class OpenSocket implements Socket {
  readonly listener: SocketListener;
  /** Undefined before the connection is open and after it is closed. */
  #ws: ServerWebSocket<OpenSocket> | undefined;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(listener: SocketListener) {
    this.listener = listener;
  }

  send(text: string): void {
    this.#ws?.sendText(text);
  }

  async ready(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while ((this.#ws?.getBufferedAmount() ?? 0) > MAX_READY_BYTES) {
      this.#drained ??= Promise.withResolvers();
      await Promise.race([this.#drained.promise, waitForAbort(signal)]);
      signal.throwIfAborted();
    }
  }

  close(code: number, reason: string): void {
    this.#ws?.close(code, reason);
  }

  opened(ws: ServerWebSocket<OpenSocket>): void {
    this.#ws = ws;
    this.listener.opened(this);
  }

  /** The send buffer is empty. */
  drained(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  closed(): void {
    this.#ws = undefined;
    this.drained();
    this.listener.closed();
  }
}

/**
 * Upgrades the connection of a request to a WebSocket. If that fails, the listener is closed, because nothing
 * else would.
 * @param protocol the subprotocol of the endpoint, returned if the client offered it. Other offers may contain an API key
 *   and are never returned.
 * @throws ServiceError 426 if the request is not a WebSocket handshake, 400 if the handshake is malformed.
 */
export function upgrade(request: Request, listener: SocketListener, options: UpgradeOptions): void {
  try {
    upgradeConnection(request, listener, options);
  } catch (error) {
    listener.closed();
    throw error;
  }
}

interface UpgradeOptions {
  readonly protocol: string;
  readonly headers: Record<string, string>;
}

function upgradeConnection(
  request: Request,
  listener: SocketListener,
  { protocol, headers }: UpgradeOptions,
): void {
  if (!asksForSocket(request.headers)) {
    throw new ServiceError(
      'upgrade_required',
      "This endpoint supports only WebSocket: connect with ws:// or wss://, which sends 'Upgrade: websocket'.",
    );
  }
  // Without this header Bun would return the first offer. An empty value is not sent.
  const subprotocol = offeredProtocols(request.headers).includes(protocol) ? protocol : '';
  const upgraded = serverOf(request)?.upgrade(request, {
    headers: { ...headers, 'sec-websocket-protocol': subprotocol },
    data: new OpenSocket(listener),
  });
  if (upgraded === true) return;
  throw new ServiceError(
    'invalid_request',
    "The WebSocket handshake is malformed: 'Sec-WebSocket-Key' and 'Sec-WebSocket-Version: 13' are required (RFC 6455, 4.1).",
  );
}

/** Whether a request is a WebSocket handshake. */
export function asksForSocket(headers: Headers): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket';
}

/** The subprotocols that a request offers, in order. */
export function offeredProtocols(headers: Headers): readonly string[] {
  const offered = headers.get('sec-websocket-protocol')?.split(',') ?? [];
  return offered.map((each) => each.trim()).filter((each) => each !== '');
}

/** WebSocket settings and dispatch of a listening server. */
export const socketHandler: WebSocketHandler<OpenSocket> = {
  maxPayloadLength: MAX_FRAME_BYTES,
  idleTimeout: IDLE_TIMEOUT_S,
  sendPings: true,
  backpressureLimit: MAX_WAITING_BYTES,
  closeOnBackpressureLimit: true,
  // Base64 of speech compresses poorly, and compression needs memory per connection.
  perMessageDeflate: false,
  open: (ws) => ws.data.opened(ws),
  message: (ws, frame) => ws.data.listener.received(frame),
  drain: (ws) => ws.data.drained(),
  close: (ws) => ws.data.closed(),
};
