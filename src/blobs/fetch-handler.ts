import type { S3ClientConfig } from '@aws-sdk/client-s3';

type Handler = Extract<S3ClientConfig['requestHandler'], { handle: unknown }>;

/** A signed request of the S3 client. */
interface SignedRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Record<string, string>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
}

/** Time limit from the start of a request to the response headers; enough for a part of 8 MiB at 300 KB/s. */
const RESPONSE_TIMEOUT_MS = 30_000;

/** A request without a response. */
class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
  /** Makes the S3 client retry. */
  readonly $retryable = {};

  constructor(cause: unknown) {
    super('no response from the store', { cause });
  }
}

/**
 * Sends the requests of the S3 client with `fetch`, which needs half of the time and a third of the memory of `node:http` per
 * part (docs/decisions/blobs.md). The abort signal applies until the response headers, not while the body is read.
 */
export const fetchHandler: Handler = {
  async handle(request: SignedRequest, options: Parameters<Handler['handle']>[1] = {}) {
    // Every call of this service passes a standard AbortSignal.
    const abortSignal = options.abortSignal as AbortSignal | undefined;
    const waiting = new AbortController();
    const onAbort = () => waiting.abort(abortSignal?.reason);
    if (abortSignal?.aborted) onAbort();
    abortSignal?.addEventListener('abort', onAbort, { once: true });
    const timeout = setTimeout(
      () => waiting.abort(new DOMException('no response', 'TimeoutError')),
      RESPONSE_TIMEOUT_MS,
    );
    try {
      const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
      const response = await fetch(addressOf(request), {
        method: request.method,
        headers: request.headers,
        ...(hasBody && request.body !== undefined && { body: request.body }),
        redirect: 'manual',
        signal: waiting.signal,
      });
      const reply = {
        statusCode: response.status,
        reason: response.statusText,
        headers: Object.fromEntries(response.headers),
        body: response.body ?? new Blob([]).stream(),
      };
      return { response: reply };
    } catch (error) {
      throw abortSignal?.aborted ? error : new NoResponseError(error);
    } finally {
      clearTimeout(timeout);
      abortSignal?.removeEventListener('abort', onAbort);
    }
  },
  updateHttpClientConfig: () => undefined,
  httpHandlerConfigs: () => ({}),
};

/** The URL in the form that was signed. The path is already encoded; query names and values are encoded here. */
function addressOf({ protocol, hostname, port, path, query = {} }: SignedRequest): string {
  const parameters = Object.entries(query).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => `${encoded(name)}=${encoded(value)}`),
  );
  const search = parameters.length === 0 ? '' : `?${parameters.join('&')}`;
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}${search}`;
}

/** Percent-encodes according to RFC 3986, which has fewer unreserved characters than `encodeURIComponent`. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
