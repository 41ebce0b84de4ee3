import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';

/** A recorded request to the S3 server. */
export interface S3Request {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/**
 * `pass`: forwards the request. `unavailable`: returns 503. `conflict`: returns 409. `cut`: forwards the request and closes the connection after
 * some bytes of the response body. `damage`: inverts one bit of the request body.
 */
export type S3Fault =
  | { readonly kind: 'pass' }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'damage' }
  | { readonly kind: 'cut'; readonly afterBytes: number };

export interface S3Proxy {
  readonly endpoint: string;
  /** All requests in order. */
  readonly requests: readonly S3Request[];
  /** Sets the handling of following requests. */
  fault(decide: (request: S3Request) => S3Fault): void;
  /** Sets a function that is called for each forwarded request before its response is sent. */
  onAnswer(listener: (request: S3Request) => void): void;
}

/** A proxy of a local S3 server that simulates failures. Closes with the running test. */
export async function startS3Proxy(target: string): Promise<S3Proxy> {
  const { port: targetPort } = new URL(target);
  const requests: S3Request[] = [];
  let decide: (request: S3Request) => S3Fault = () => ({ kind: 'pass' });
  let notify: (request: S3Request) => void = () => undefined;
  const forward = async (message: IncomingMessage, reply: ServerResponse) => {
    const body = await bodyOf(message);
    const { method = 'GET', url: path = '/', headers } = message;
    const request = { method, path, headers, body };
    requests.push(request);
    const fault = decide(request);
    if (fault.kind === 'unavailable') {
      reply.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      return;
    }
    if (fault.kind === 'conflict') {
      reply.writeHead(409).end('<Error><Code>OperationAborted</Code></Error>');
      return;
    }
    const sent = Buffer.from(body);
    if (fault.kind === 'damage') sent[0] = (sent[0] ?? 0) ^ 1;
    // Keeps the `host` of the client, which the signature covers.
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: targetPort, method, path, headers };
      httpRequest(options, resolve).once('error', reject).end(sent);
    });
    const whole = await bodyOf(response);
    notify(request);
    reply.writeHead(response.statusCode ?? 500, response.headers);
    if (fault.kind !== 'cut') reply.end(whole);
    else reply.write(whole.subarray(0, fault.afterBytes), () => reply.destroy());
  };
  const server = createServer((message, response) => {
    forward(message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    requests,
    fault(next) {
      decide = next;
    },
    onAnswer(next) {
      notify = next;
    },
  };
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(message));
}
