/** HTTP requests over a TCP socket, for clients that read slowly or not at all. */

import { connect, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  readonly requestId: string | undefined;
  /** Length of the body without chunk framing. */
  readonly bodyBytes: number;
  /** Whether the response is complete. */
  readonly isWhole: boolean;
}

export interface RawRequest {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Bytes per read, and the pause after each read. */
  readonly readBytes: number;
  readonly pauseMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends a request and reads the response slowly, so that the service must buffer or apply backpressure.
 * @throws Error if the connection fails; the reason of the signal.
 */
export async function sendSlowly(request: RawRequest): Promise<RawResponse> {
  const { port, path, headers, body, readBytes, pauseMs, signal } = request;
  const socket = connect(port, '127.0.0.1');
  const stop = () => socket.destroy(signal.reason);
  signal.addEventListener('abort', stop);
  try {
    const head = {
      host: 'soak',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
      ...headers,
    };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    return read(await receive(socket, readBytes, pauseMs));
  } finally {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  }
}

/** Receives bytes until the response is complete or the connection is closed. */
async function receive(socket: Socket, readBytes: number, pauseMs: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let [bytes, sincePause] = [0, 0];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    sincePause += chunk.length;
    // The service may keep the connection open after the response.
    const end = Buffer.concat(chunks.slice(-LAST_CHUNK.length)).subarray(-LAST_CHUNK.length);
    if (end.equals(LAST_CHUNK) || (bytes < SHORT_BYTES && read(Buffer.concat(chunks)).isWhole)) resolve();
    if (sincePause < readBytes) return;
    sincePause = 0;
    socket.pause();
    setTimeout(() => socket.resume(), pauseMs);
  });
  socket.on('close', () => resolve());
  socket.on('error', (error) => (chunks.length > 0 ? resolve() : reject(error)));
  await promise;
  return Buffer.concat(chunks);
}

const LINE = '\r\n';
const LAST_CHUNK = Buffer.from(`${LINE}0${LINE}${LINE}`);
/** Maximum length of a response with content-length, which is an error. */
const SHORT_BYTES = 10_000;

/** Parses an HTTP/1.1 response (RFC 9112, 6 and 7.1). */
export function read(bytes: Buffer): RawResponse {
  const headEnd = bytes.indexOf(LINE + LINE);
  if (headEnd < 0) return { status: 0, requestId: undefined, bodyBytes: 0, isWhole: false };
  const [first = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split(LINE);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const parsed = { status: Number(first.split(' ')[1]), requestId: headers.get('x-request-id') };
  const body = bytes.subarray(headEnd + 2 * LINE.length);
  const length = headers.get('content-length');
  if (length !== undefined) {
    return { ...parsed, bodyBytes: body.length, isWhole: body.length === Number(length) };
  }
  let [at, bodyBytes] = [0, 0];
  for (;;) {
    const sizeEnd = body.indexOf(LINE, at);
    const size =
      sizeEnd < 0 ? Number.NaN : Number.parseInt(body.subarray(at, sizeEnd).toString('latin1'), 16);
    if (Number.isNaN(size)) return { ...parsed, bodyBytes, isWhole: false };
    if (size === 0) return { ...parsed, bodyBytes, isWhole: true };
    bodyBytes += Math.min(size, body.length - sizeEnd - LINE.length);
    at = sizeEnd + LINE.length + size + LINE.length;
  }
}
