import { readEvents, type ServerEvent } from './event-reader.ts';
import { errorFromBody, ServiceError, toServiceError } from './service-error.ts';

/** A page of a list endpoint. */
export interface ListPage<Item> {
  readonly object: 'list';
  readonly data: readonly Item[];
  readonly first_id?: string | null;
  readonly last_id?: string | null;
  readonly has_more?: boolean;
}

/** Query parameters; undefined values are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly query?: Query | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface UploadOptions extends RequestOptions {
  /** Called with the fraction of the body that was sent, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/**
 * HTTP client of the service for one API key. Paths are relative (`v1/models`), so that the console works
 * below a path prefix. All methods throw {@link ServiceError} for an error response or a failed connection,
 * and the `AbortError` of their signal.
 */
export class ServiceClient {
  readonly #key: string;
  readonly #base: string;
  readonly #onKeyRejected: () => void;

  /**
   *
   * @param base absolute URL that paths are resolved against.
   * @param onKeyRejected called when the service rejects the key, for example after it was revoked.
   */
  constructor(key: string, base: string, onKeyRejected: () => void = () => undefined) {
    this.#key = key;
    this.#base = base;
    this.#onKeyRejected = onKeyRejected;
  }

  /** Returns the absolute URL of a path. */
  address(path: string, query: Query = {}): string {
    const url = new URL(path, this.#base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url.href;
  }

  /** Returns the URL and the subprotocols for a WebSocket. One subprotocol carries the key. */
  socket(path: string, query: Query = {}): { readonly address: string; readonly protocols: string[] } {
    const address = this.address(path, query).replace(/^http/, 'ws');
    return { address, protocols: ['realtime', `ext-insecure-api-key.${this.#key}`] };
  }

  get<Body>(path: string, options: RequestOptions = {}): Promise<Body> {
    return this.#json('GET', path, undefined, options);
  }

  /** @param body a form, or a value that is sent as JSON. */
  post<Body>(path: string, body?: unknown, options: RequestOptions = {}): Promise<Body> {
    return this.#json('POST', path, body, options);
  }

  /** @param body is sent as JSON. */
  put<Body>(path: string, body: unknown, options: RequestOptions = {}): Promise<Body> {
    return this.#json('PUT', path, body, options);
  }

  delete<Body>(path: string, options: RequestOptions = {}): Promise<Body> {
    return this.#json('DELETE', path, undefined, options);
  }

  /** Fetches a page of a list; `query` as documented for the endpoint (`limit`, `after` …). */
  list<Item>(path: string, options: RequestOptions = {}): Promise<ListPage<Item>> {
    return this.get<ListPage<Item>>(path, options);
  }

  /** Fetches the response body with its content type. */
  async blob(path: string, options: RequestOptions = {}): Promise<Blob> {
    return this.#read(await this.send('GET', path, undefined, options), (answer) => answer.blob());
  }

  /** Yields the server-sent events of the response. */
  async *events(path: string, body: unknown, options: RequestOptions = {}): AsyncGenerator<ServerEvent> {
    const response = await this.send('POST', path, body, options);
    try {
      yield* readEvents(response);
    } catch (error) {
      throw options.signal?.aborted ? options.signal.reason : toServiceError(error);
    }
  }

  /** Returns the response as soon as its headers arrived, for audio and other streams. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    { signal, query, headers }: RequestOptions = {},
  ): Promise<Response> {
    const response = await fetch(this.address(path, query), {
      method,
      headers: { authorization: `Bearer ${this.#key}`, ...contentType(body), ...headers },
      ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    }).catch((error: unknown) => {
      throw signal?.aborted ? error : toServiceError(error);
    });
    if (response.ok) return response;
    const answer: unknown = await response.json().catch(() => undefined);
    throw this.#reportRejectedKey(errorOf(response, answer));
  }

  /** POST with upload progress, which fetch does not provide. */
  upload<Body>(path: string, form: FormData, options: UploadOptions = {}): Promise<Body> {
    const { signal, query, headers = {}, onProgress } = options;
    return new Promise<Body>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const request = new XMLHttpRequest();
      const abort = () => request.abort();
      const end = (settle: () => void) => {
        signal?.removeEventListener('abort', abort);
        settle();
      };
      request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0);
      request.onabort = () => end(() => reject(signal?.reason));
      request.onerror = () => end(() => reject(toServiceError(new TypeError('no response'))));
      request.onload = () =>
        end(() => {
          const body = parsed(request.responseText);
          if (request.status >= 200 && request.status < 300) return resolve(body as Body);
          reject(
            this.#reportRejectedKey(
              errorFromBody(body, request.status, request.getResponseHeader('x-request-id')),
            ),
          );
        });
      request.open('POST', this.address(path, query));
      request.setRequestHeader('authorization', `Bearer ${this.#key}`);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      signal?.addEventListener('abort', abort);
      request.send(form);
    });
  }

  async #json<Body>(method: string, path: string, body: unknown, options: RequestOptions): Promise<Body> {
    const response = await this.send(method, path, body, options);
    return this.#read(response, (answer) => answer.json() as Promise<Body>);
  }

  async #read<Value>(response: Response, read: (response: Response) => Promise<Value>): Promise<Value> {
    try {
      return await read(response);
    } catch (error) {
      throw error instanceof SyntaxError
        ? new ServiceError('The response is not JSON.', { status: response.status })
        : error instanceof TypeError
          ? toServiceError(error)
          : error;
    }
  }

  #reportRejectedKey(error: ServiceError): ServiceError {
    if (error.status === 401) this.#onKeyRejected();
    return error;
  }
}

function errorOf({ status, headers }: Response, body: unknown): ServiceError {
  const retryAfterS = Number.parseInt(headers.get('retry-after') ?? '', 10);
  return errorFromBody(
    body,
    status,
    headers.get('x-request-id'),
    Number.isNaN(retryAfterS) ? null : retryAfterS,
  );
}

function isRaw(body: unknown): body is FormData | Blob {
  return body instanceof FormData || body instanceof Blob;
}

function contentType(body: unknown): Record<string, string> {
  return body === undefined || isRaw(body) ? {} : { 'content-type': 'application/json' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
