import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** Response to an upgrade request; the body is empty if the WebSocket opened. */
export interface Handshake {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/**
 * Requests an upgrade and returns the result; an opened WebSocket is closed.
 * @param leaving closes the connection before the response.
 */
export function shake(
  url: string,
  more: Readonly<Record<string, string>>,
  leaving?: AbortSignal,
): Promise<Handshake> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>();
  const requestOf = url.startsWith('https') ? requestHttps : requestHttp;
  const request = requestOf(url, {
    rejectUnauthorized: false,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.from('sixteen bytes ok').toString('base64'),
      ...more,
    },
  });
  request.on('upgrade', (response, socket) => {
    socket.destroy();
    resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' });
  });
  request.on('response', (response) => {
    let body = '';
    response.on('data', (bytes) => {
      body += String(bytes);
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
  });
  request.on('error', reject);
  leaving?.addEventListener('abort', () => request.destroy(new Error('left')), { once: true });
  request.end();
  return promise;
}
