import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { sha256 } from '../../src/kit/storage/content-hash.ts';

/** A file of the hub. Large files redirect to the storage server. */
export interface HubFile {
  readonly bytes: Uint8Array;
  readonly isLarge: boolean;
}

export interface HubRequest {
  readonly server: 'hub' | 'storage';
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly range: string | undefined;
}

export interface HubServerOptions {
  /** By `owner/name/resolve/main/path`. */
  readonly files: Readonly<Record<string, HubFile>>;
  /** Handles a request instead of the server if it returns true. */
  readonly intercept?: (request: HubRequest, response: ServerResponse, index: number) => boolean;
}

/** A model hub with a separate storage server, as the public one: checksums in the response to HEAD, signed URLs, ranges. */
export async function startHubServer({ files, intercept }: HubServerOptions) {
  const requests: HubRequest[] = [];
  const seen = (server: HubRequest['server'], { method, url, headers }: IncomingMessage): HubRequest => {
    const { authorization, range } = headers;
    const request = { server, method: method ?? '', path: (url ?? '').slice(1), authorization, range };
    requests.push(request);
    return request;
  };
  const storage = await listen((incoming, response) => {
    const request = seen('storage', incoming);
    if (intercept?.(request, response, requests.length - 1)) return;
    const [path = '', signature] = request.path.split('?');
    const file = files[path];
    if (file === undefined || signature !== 'signature=valid') return void response.writeHead(403).end();
    sendFile(request, response, file.bytes);
  });
  const hub = await listen((incoming, response) => {
    const request = seen('hub', incoming);
    if (intercept?.(request, response, requests.length - 1)) return;
    const file = files[request.path];
    if (file === undefined) return void response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end();
    if (!file.isLarge) {
      const blob = Buffer.concat([Buffer.from(`blob ${file.bytes.length}\0`), file.bytes]);
      response.setHeader('etag', `"${new Bun.CryptoHasher('sha1').update(blob).digest('hex')}"`);
      return sendFile(request, response, file.bytes);
    }
    response.writeHead(302, {
      location: `${storage}/${request.path}?signature=valid`,
      'x-linked-etag': `"${sha256(file.bytes)}"`,
      'x-linked-size': String(file.bytes.length),
    });
    response.end();
  });
  return { origin: hub, storage, requests };
}

function sendFile({ method, range }: HubRequest, response: ServerResponse, bytes: Uint8Array): void {
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  response.setHeader('content-length', bytes.length - from);
  if (from > 0) {
    response.statusCode = 206;
    response.setHeader('content-range', `bytes ${from}-${bytes.length - 1}/${bytes.length}`);
  }
  response.end(method === 'HEAD' ? undefined : bytes.subarray(from));
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return `http://127.0.0.1:${address.port}`;
}
