import { SupervisedProcess, type SupervisedProcessOptions } from './supervised-process.ts';

/** Why a request has no result. */
export type SerialFailure =
  /** Too many requests are waiting. */
  | 'full'
  /** The process cannot be loaded; it is started again. */
  | 'failing'
  /** The process exited during the request. */
  | 'crashed'
  | 'closed';

type ProcessOptions<Load> = Omit<
  SupervisedProcessOptions<Load, never>,
  'onMessage' | 'onProgress' | 'onLoaded' | 'onExit'
>;

export interface SerialProcessOptions<Load> extends ProcessOptions<Load> {
  /** Requests that may wait for the running one, or for the load of the process. */
  readonly maxWaiting: number;
  /** A process that needs longer for a request is killed. */
  readonly requestTimeoutMs: number;
  /** The error of a request without a result. */
  readonly failure: (cause: SerialFailure) => Error;
  /** Called when the process exits or fails to start. */
  readonly onExit?: () => void;
}

interface Request<Sent, Received> {
  readonly message: Sent;
  readonly result: PromiseWithResolvers<Received>;
}

/**
 * A supervised process that handles one request at a time, in order of arrival. When it exits, the running request fails and
 * the waiting ones are sent to the next process, unless it cannot be loaded.
 */
export class SerialProcess<Load, Sent, Received> {
  readonly #options: SerialProcessOptions<Load>;
  readonly #process: SupervisedProcess<Load, undefined, Sent, Received>;
  /** In order of arrival. */
  readonly #waiting = new Set<Request<Sent, Received>>();
  /** The request in the process. It stays here after an abort, because the process cannot stop it. */
  #running: Request<Sent, Received> | undefined;
  #isClosed = false;

  constructor(options: SerialProcessOptions<Load>) {
    this.#options = options;
    this.#process = new SupervisedProcess({
      ...options,
      onMessage: (message) => this.#finish(message),
      onLoaded: () => this.#sendNext(),
      onExit: () => {
        options.onExit?.();
        this.#failRunning('crashed');
        this.#sendNext();
      },
    });
  }

  /** Whether the process has loaded. */
  get loaded(): boolean {
    return this.#process.loaded;
  }

  /** Starts the process, as {@link SupervisedProcess.start}. */
  async start(): Promise<void> {
    await this.#process.start();
  }

  /**
   * Sends a request and waits for its result.
   * @throws the error of `failure`, or the reason of `signal`.
   */
  async request(message: Sent, signal?: AbortSignal): Promise<Received> {
    signal?.throwIfAborted();
    const { failure, maxWaiting } = this.#options;
    if (this.#isClosed) throw failure('closed');
    if (this.#waiting.size >= maxWaiting) throw failure('full');
    const request = { message, result: Promise.withResolvers<Received>() };
    const abort = () => {
      this.#waiting.delete(request);
      request.result.reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    this.#waiting.add(request);
    this.#sendNext();
    try {
      return await request.result.promise;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Kills the process and fails all requests. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failRunning('closed');
    this.#failWaiting('closed');
    await this.#process.close();
  }

  /** Sends the next request, unless one is in the process. */
  #sendNext(): void {
    if (this.#running !== undefined) return;
    if (this.#process.failing) this.#failWaiting('failing');
    const [next] = this.#waiting;
    if (next === undefined || !this.#process.loaded) return;
    this.#waiting.delete(next);
    this.#running = next;
    this.#process.startWatchdog(this.#options.requestTimeoutMs);
    this.#process.send(next.message);
  }

  #finish(message: Received): void {
    this.#process.stopWatchdog();
    this.#running?.result.resolve(message);
    this.#running = undefined;
    this.#sendNext();
  }

  #failRunning(cause: SerialFailure): void {
    this.#running?.result.reject(this.#options.failure(cause));
    this.#running = undefined;
  }

  #failWaiting(cause: SerialFailure): void {
    for (const { result } of this.#waiting) result.reject(this.#options.failure(cause));
    this.#waiting.clear();
  }
}
