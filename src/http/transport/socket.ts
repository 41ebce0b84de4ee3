/** WebSockets: what a feature sees of one, and what every one of them has in common. */

import type { ServerWebSocket, WebSocketHandler } from 'bun';
import { ServiceError } from '../../contract/core/error.ts';
import { aborted } from '../../kit/async/aborted.ts';
import { serverOf } from './connection-server.ts';

/**
 * Largest frame. An append that overflows the 25 MiB between commits (spec 8) is answered by an error, so it
 * must arrive: as base64 and JSON it has some 35 MB.
 */
export const MAX_FRAME_BYTES = 36 * 1024 * 1024;
/** Seconds without a byte, pongs included, after which a peer counts as gone. Pings are sent before. */
const IDLE_TIMEOUT_S = 120;
/** Bytes that may wait for a slow reader while more is being made for it: one second of 24 kHz PCM as base64. */
const COMFORTABLE_BYTES = 64 * 1024;
/** Bytes that may wait in all. A peer that makes us answer and never reads is dropped. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** Reasons to close (RFC 6455, 7.4.1, and the registry that it set up). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  policy: 1008,
  serverFault: 1011,
  tryAgainLater: 1013,
} as const;

/** Whoever a WebSocket belongs to. Calls come in the order of what happened, and must return at once. */
export interface SocketOwner {
  opened(socket: Socket): void;
  /** A text frame as text, a binary one as bytes, which are only valid during the call. */
  received(frame: string | Uint8Array): void;
  /** The peer has left, or it was closed. Nothing can be sent any more. */
  closed(): void;
}

/** One open WebSocket. */
export interface Socket {
  /** Sends a text frame; nothing once closed. Whatever the peer has not read yet is kept for it. */
  send(text: string): void;
  /**
   * Resolves when so little waits for the peer that more may be made for it.
   * @throws the signal's reason after an abort.
   */
  ready(signal: AbortSignal): Promise<void>;
  /** @param reason at most 123 bytes. */
  close(code: number, reason: string): void;
}

class OpenSocket implements Socket {
  readonly owner: SocketOwner;
  /** Undefined before it is open and once it is closed. */
  #ws: ServerWebSocket<OpenSocket> | undefined;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(owner: SocketOwner) {
    this.owner = owner;
  }

  send(text: string): void {
    this.#ws?.sendText(text);
  }

  async ready(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while ((this.#ws?.getBufferedAmount() ?? 0) > COMFORTABLE_BYTES) {
      this.#drained ??= Promise.withResolvers();
      await Promise.race([this.#drained.promise, aborted(signal)]);
      signal.throwIfAborted();
    }
  }

  close(code: number, reason: string): void {
    this.#ws?.close(code, reason);
  }

  opened(ws: ServerWebSocket<OpenSocket>): void {
    this.#ws = ws;
    this.owner.opened(this);
  }

  /** Everything that waited has been read. */
  drained(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  closed(): void {
    this.#ws = undefined;
    this.drained();
    this.owner.closed();
  }
}

/**
 * Makes a request's connection a WebSocket.
 * @param protocol the subprotocol that is spoken, told to the peer if it offered it. A peer's other offers may
 *   hold its key and are never sent back.
 * @throws ServiceError 426 when the request does not ask for a WebSocket, 400 when its handshake is malformed.
 */
export function upgrade(
  request: Request,
  owner: SocketOwner,
  { protocol, headers }: { readonly protocol: string; readonly headers: Record<string, string> },
): void {
  if (!asksForSocket(request.headers)) {
    throw new ServiceError(
      'upgrade_required',
      "This address speaks WebSocket only: connect with ws:// or wss://, which sends 'Upgrade: websocket'.",
    );
  }
  // Without this header Bun would send the first offer back; an empty one is not sent.
  const spoken = offeredProtocols(request.headers).includes(protocol) ? protocol : '';
  const upgraded = serverOf(request)?.upgrade(request, {
    headers: { ...headers, 'sec-websocket-protocol': spoken },
    data: new OpenSocket(owner),
  });
  if (upgraded === true) return;
  throw new ServiceError(
    'invalid_request',
    "The WebSocket handshake is malformed: 'Sec-WebSocket-Key' and 'Sec-WebSocket-Version: 13' are needed (RFC 6455, 4.1).",
  );
}

/** Whether a request asks to become a WebSocket. */
export function asksForSocket(headers: Headers): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket';
}

/** The subprotocols that a request offers, in its order. */
export function offeredProtocols(headers: Headers): readonly string[] {
  const offered = headers.get('sec-websocket-protocol')?.split(',') ?? [];
  return offered.map((each) => each.trim()).filter((each) => each !== '');
}

/** What a listening server does with every WebSocket, whoever owns it. */
export const socketHandler: WebSocketHandler<OpenSocket> = {
  maxPayloadLength: MAX_FRAME_BYTES,
  idleTimeout: IDLE_TIMEOUT_S,
  sendPings: true,
  backpressureLimit: MAX_WAITING_BYTES,
  closeOnBackpressureLimit: true,
  // Base64 of speech hardly shrinks, and each socket would need memory for it.
  perMessageDeflate: false,
  open: (ws) => ws.data.opened(ws),
  message: (ws, frame) => ws.data.owner.received(frame),
  drain: (ws) => ws.data.drained(),
  close: (ws) => ws.data.closed(),
};
