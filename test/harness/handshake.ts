import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** What a request for an upgrade was answered with; of a socket that opened, without a body. */
export interface Handshake {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Requests an upgrade and returns the result; an opened WebSocket is closed. */
export function shake(url: string, more: Readonly<Record<string, string>>): Promise<Handshake> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>();
  const request = url.startsWith('https') ? requestHttps : requestHttp;
  const asked = request(url, {
    rejectUnauthorized: false,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.from('sixteen bytes ok').toString('base64'),
      ...more,
    },
  });
  asked.on('upgrade', (response, socket) => {
    socket.destroy();
    resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' });
  });
  asked.on('response', (response) => {
    let body = '';
    response.on('data', (bytes) => {
      body += String(bytes);
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
  });
  asked.on('error', reject);
  asked.end();
  return promise;
}
