import { readEvents, type ServerEvent } from './event-reader.ts';
import { faultOf, ServiceFault, toFault } from './service-fault.ts';

/** A page of a list, as every list of the service comes. */
export interface ListPage<Item> {
  readonly object: 'list';
  readonly data: readonly Item[];
  readonly first_id?: string | null;
  readonly last_id?: string | null;
  readonly has_more?: boolean;
}

/** Values that are left out of a query when undefined. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly query?: Query | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface UploadOptions extends RequestOptions {
  /** Is told from 0 to 1 how much of the body was sent. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/**
 * The service with one key. Paths are relative (`v1/models`), so that the console works under a prefix too. All
 * methods throw {@link ServiceFault} for a refusal or when there is no answer, and the `AbortError` of their signal.
 */
export class ServiceClient {
  readonly #key: string;
  readonly #base: string;
  readonly #onKeyRefused: () => void;

  /**
   * @param base absolute address that paths are relative to.
   * @param onKeyRefused is told when the service does not know the key (any more).
   */
  constructor(key: string, base: string, onKeyRefused: () => void = () => undefined) {
    this.#key = key;
    this.#base = base;
    this.#onKeyRefused = onKeyRefused;
  }

  /** The absolute address of a path. */
  address(path: string, query: Query = {}): string {
    const url = new URL(path, this.#base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url.href;
  }

  /** How a WebSocket is opened: its address, and the subprotocols of which one carries the key. */
  socket(path: string, query: Query = {}): { readonly address: string; readonly protocols: string[] } {
    const address = this.address(path, query).replace(/^http/, 'ws');
    return { address, protocols: ['realtime', `ext-insecure-api-key.${this.#key}`] };
  }

  get<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.#json('GET', path, undefined, options);
  }

  /** @param body a form, or what becomes JSON. */
  post<Answer>(path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.#json('POST', path, body, options);
  }

  delete<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.#json('DELETE', path, undefined, options);
  }

  /** A page of a list; `query` as the service documents it (`limit`, `after` …). */
  list<Item>(path: string, options: RequestOptions = {}): Promise<ListPage<Item>> {
    return this.get<ListPage<Item>>(path, options);
  }

  /** The answer's bytes, with the type that the service gave. */
  async blob(path: string, options: RequestOptions = {}): Promise<Blob> {
    return this.#read(await this.send('GET', path, undefined, options), (answer) => answer.blob());
  }

  /** The events of an answer that is a stream of them. */
  async *events(path: string, body: unknown, options: RequestOptions = {}): AsyncGenerator<ServerEvent> {
    const response = await this.send('POST', path, body, options);
    try {
      yield* readEvents(response);
    } catch (error) {
      throw options.signal?.aborted ? options.signal.reason : toFault(error);
    }
  }

  /** The answer as it comes, headers first, for audio and other streams. */
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
      throw signal?.aborted ? error : toFault(error);
    });
    if (response.ok) return response;
    const answer: unknown = await response.json().catch(() => undefined);
    throw this.#refused(faultOf(answer, response.status, response.headers.get('x-request-id')));
  }

  /** A POST that tells how much of its body was sent, which fetch cannot. */
  upload<Answer>(path: string, form: FormData, options: UploadOptions = {}): Promise<Answer> {
    const { signal, query, headers = {}, onProgress } = options;
    return new Promise<Answer>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const request = new XMLHttpRequest();
      const abort = () => request.abort();
      const end = (settle: () => void) => {
        signal?.removeEventListener('abort', abort);
        settle();
      };
      request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0);
      request.onabort = () => end(() => reject(signal?.reason));
      request.onerror = () => end(() => reject(toFault(new TypeError('no answer'))));
      request.onload = () =>
        end(() => {
          const body = parsed(request.responseText);
          if (request.status >= 200 && request.status < 300) return resolve(body as Answer);
          reject(this.#refused(faultOf(body, request.status, request.getResponseHeader('x-request-id'))));
        });
      request.open('POST', this.address(path, query));
      request.setRequestHeader('authorization', `Bearer ${this.#key}`);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      signal?.addEventListener('abort', abort);
      request.send(form);
    });
  }

  async #json<Answer>(method: string, path: string, body: unknown, options: RequestOptions): Promise<Answer> {
    const response = await this.send(method, path, body, options);
    return this.#read(response, (answer) => answer.json() as Promise<Answer>);
  }

  async #read<Value>(response: Response, read: (response: Response) => Promise<Value>): Promise<Value> {
    try {
      return await read(response);
    } catch (error) {
      throw error instanceof SyntaxError
        ? new ServiceFault('The service answered with something else than JSON.', { status: response.status })
        : error instanceof TypeError
          ? toFault(error)
          : error;
    }
  }

  #refused(fault: ServiceFault): ServiceFault {
    if (fault.status === 401) this.#onKeyRefused();
    return fault;
  }
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
