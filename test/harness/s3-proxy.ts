import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';

/** A request to a server of S3, as the proxy sees it. */
export interface S3Request {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/**
 * `pass` hands it on; `unavailable` answers 503; `cut` hands it on and breaks the connection after so many bytes of the
 * answer's body; `damage` turns one bit of what is sent.
 */
export type S3Fault =
  | { readonly kind: 'pass' }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'damage' }
  | { readonly kind: 'cut'; readonly afterBytes: number };

export interface S3Proxy {
  readonly endpoint: string;
  /** All that were made, in order. */
  readonly requests: readonly S3Request[];
  /** From now on decides what becomes of a request. */
  fault(decide: (request: S3Request) => S3Fault): void;
  /** From now on is called for each forwarded request, before its response is sent. */
  onAnswer(told: (request: S3Request) => void): void;
}

/** A proxy before a server of S3 on this machine, for faults; it closes with the running test. */
export async function startS3Proxy(target: string): Promise<S3Proxy> {
  const { port: targetPort } = new URL(target);
  const requests: S3Request[] = [];
  let decide: (request: S3Request) => S3Fault = () => ({ kind: 'pass' });
  let tell: (request: S3Request) => void = () => undefined;
  const answer = async (asked: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(asked);
    const { method = 'GET', url: path = '/', headers } = asked;
    const request = { method, path, headers, body };
    requests.push(request);
    const fault = decide(request);
    if (fault.kind === 'unavailable') {
      response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      return;
    }
    const sent = Buffer.from(body);
    if (fault.kind === 'damage') sent[0] = (sent[0] ?? 0) ^ 1;
    // With the client's own `host`, which its signature covers.
    const given = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: targetPort, method, path, headers };
      httpRequest(options, resolve).once('error', reject).end(sent);
    });
    const whole = await bodyOf(given);
    tell(request);
    response.writeHead(given.statusCode ?? 500, given.headers);
    if (fault.kind !== 'cut') response.end(whole);
    else response.write(whole.subarray(0, fault.afterBytes), () => response.destroy());
  };
  const server = createServer((asked, response) => {
    answer(asked, response).catch(() => response.destroy());
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
      tell = next;
    },
  };
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(message));
}
