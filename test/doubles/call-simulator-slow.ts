/** A simulated platform that sends audio and reads only on command: WebSocket over a plain TCP connection. */

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** Opens the transcriber. Data after the handshake is not read before {@link SlowReader.read}. */
export async function dialSlowly(baseUrl: string, key: string): Promise<SlowReader> {
  const { hostname, port, host } = new URL(baseUrl);
  const tcp = connect(Number(port), hostname);
  tcp.write(
    [
      'GET /v1/transcribers/partner?model=svc-stt HTTP/1.1',
      `Host: ${host}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      `Authorization: Bearer ${key}`,
      '\r\n',
    ].join('\r\n'),
  );
  const head = await new Promise<string>((resolve, reject) => {
    tcp.once('data', (data) => resolve(String(data)));
    tcp.once('error', reject);
  });
  tcp.pause();
  if (!head.startsWith('HTTP/1.1 101')) throw new Error(`the transcriber rejected the call: ${head}`);
  return new SlowReader(tcp);
}

export class SlowReader {
  readonly #tcp: Socket;

  constructor(tcp: Socket) {
    this.#tcp = tcp;
  }

  /** Sends a text or binary frame. */
  send(frame: string | Uint8Array): void {
    const payload = Buffer.from(frame as string);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(payload.length));
    const mask = randomBytes(4);
    const masked = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
    const opcode = typeof frame === 'string' ? 1 : 2;
    this.#tcp.write(Buffer.concat([Buffer.from([0x80 | opcode, 0xff]), length, mask, masked]));
  }

  /** Reads until a text arrives. Returns all received bytes, including frame headers. */
  read(until: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let received = '';
    this.#tcp.on('data', (data) => {
      received += String(data);
      if (received.includes(until)) resolve(received);
    });
    this.#tcp.on('close', () => reject(new Error('the service closed the call')));
    this.#tcp.resume();
    return promise;
  }

  close(): void {
    this.#tcp.destroy();
  }
}
