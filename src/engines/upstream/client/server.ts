/**
 * HTTP client for an upstream server with an OpenAI-compatible API. Requests carry the API key from the configuration of
 * the model, never the key of a caller.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { Secret } from '../../../contract/core/secret.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import { systemClock } from '../../../kit/clock.ts';
import { UnreachableError, UpstreamCircuit } from './circuit-breaker.ts';
import type { UpstreamMeter } from './metrics.ts';
import { upstreamError, upstreamErrorName, upstreamStatusError } from './upstream-error.ts';

const ERROR_BODY_BYTES = 64 * 1024;
/** Delays before a failed connection attempt is repeated. */
const CONNECT_RETRY_DELAYS_MS = [100, 400];
/** Error codes of Bun and the operating system for a connection that was not established. Such a request is safe to repeat. */
const CONNECT_ERROR_CODES: ReadonlySet<unknown> = new Set([
  'ConnectionRefused',
  'FailedToOpenSocket',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

export interface UpstreamServerOptions {
  readonly settings: { readonly baseUrl: string; readonly apiKey: Secret | undefined };
  readonly log: Logger;
  /** Records the outcome of calls. */
  readonly meter?: UpstreamMeter | undefined;
  /** Interval of the health checks of an unavailable server. Default 5000 ms. */
  readonly probeMs?: number | undefined;
  /**
   * Maps an error response to an error that the caller can act on; undefined for the default mapping. `body` is the
   * start of the response body and must not be shown or logged.
   */
  readonly explain?: ((status: number, body: string) => ServiceError | undefined) | undefined;
}

/** A request body that can be sent repeatedly. */
type Body = string | FormData;

interface RequestOptions {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: Body;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Limits of the time in which a call progresses, without the time in which the consumer processes a chunk. Only a part of the
 * result counts as progress: bytes that keep the connection open, such as comments between events, do not.
 */
export interface CallTimeouts {
  /** Maximum time until the first part of the result, or until the end of a result without parts. */
  readonly firstPartMs: number;
  /** Maximum time between two parts of the result. Absent: the result has no parts. */
  readonly idleMs?: number;
}

/** Requests of one call, which share its timeouts and its abort signal. */
export interface UpstreamCall {
  /**
   * Sends a POST request to a path below the base URL. Connecting is attempted three times.
   * @param acceptedStatuses statuses other than 2xx that the caller handles.
   * @throws ServiceError for a response with another status.
   */
  post(
    path: string,
    body: Body,
    headers?: Readonly<Record<string, string>>,
    acceptedStatuses?: readonly number[],
  ): Promise<Response>;
  /** Sends a request without a body and returns the response with any status. Connecting is attempted three times. */
  request(method: 'GET' | 'DELETE', path: string): Promise<Response>;
  /** Yields the chunks of a response body as they arrive. */
  readChunks(response: Response): AsyncGenerator<Uint8Array, void, undefined>;
  /** Call it for every part of the result that has been received. Restarts the timeout. */
  progressed(): void;
}

export class UpstreamServer {
  readonly #settings: UpstreamServerOptions['settings'];
  readonly #log: Logger;
  readonly #meter: UpstreamMeter | undefined;
  readonly #explain: UpstreamServerOptions['explain'];
  readonly #circuit: UpstreamCircuit;
  readonly #probeMs: number;
  readonly #closed = new AbortController();
  #probe: ReturnType<typeof setTimeout> | undefined;

  constructor({ settings, log, meter, explain, probeMs = 5_000 }: UpstreamServerOptions) {
    this.#settings = settings;
    this.#log = log;
    this.#meter = meter;
    this.#explain = explain;
    this.#probeMs = probeMs;
    // The circuit breaker measures time with its own clock. Half of the interval has certainly elapsed at the next check.
    this.#circuit = new UpstreamCircuit(probeMs / 2, (state) => {
      if (this.#closed.signal.aborted) return;
      this.#meter?.circuit(state);
      this.#log.warn('upstream circuit breaker changed state', { state });
      if (state === 'open') this.#startHealthChecks();
    });
  }

  /**
   * Runs a call and yields its items. The call is cancelled when the consumer stops, when the signal is aborted, by
   * {@link close}, and when a timeout elapses.
   * @param run sends the requests and reads the responses.
   * @throws ServiceError with a message that is safe to show; the reason of the signal after an abort.
   */
  async *call<Item, Result>(
    timeouts: CallTimeouts,
    signal: AbortSignal,
    run: (call: UpstreamCall) => AsyncGenerator<Item, Result, undefined>,
  ): AsyncGenerator<Item, Result, undefined> {
    const timer = new ProgressTimer(timeouts.firstPartMs);
    const stop = new AbortController();
    const cancelled = AbortSignal.any([signal, timer.signal, stop.signal, this.#closed.signal]);
    try {
      const result = yield* run({
        post: (...args) => this.#post(cancelled, timer, ...args),
        request: (method, path) => this.#fetchThroughCircuit(cancelled, timer, { method, path }),
        readChunks: (response) => readChunks(response, timer),
        progressed: () => timer.restart(timeouts.idleMs ?? timeouts.firstPartMs),
      });
      this.#markAvailable();
      this.#meter?.call('succeeded');
      return result;
    } catch (error) {
      signal.throwIfAborted();
      throw this.#recordFailure(error, timer);
    } finally {
      timer.pause();
      // Closes the connection if the consumer stopped before the end of the response.
      stop.abort();
    }
  }

  ready(): ReadyReport {
    if (this.#probe === undefined) return { ready: true, detail: 'upstream' };
    return { ready: false, detail: 'the upstream server is unavailable' };
  }

  async close(): Promise<void> {
    clearTimeout(this.#probe);
    this.#closed.abort(shuttingDown());
    this.#meter?.close();
  }

  async #post(
    signal: AbortSignal,
    timer: ProgressTimer,
    path: string,
    body: Body,
    headers: Readonly<Record<string, string>> = {},
    acceptedStatuses: readonly number[] = [],
  ): Promise<Response> {
    const response = await this.#fetchThroughCircuit(signal, timer, { method: 'POST', path, body, headers });
    const { status } = response;
    if (response.ok || acceptedStatuses.includes(status)) return response;
    const errorBody = await readTextPrefix(response, ERROR_BODY_BYTES);
    this.#log.warn('upstream rejected the request', { status, error: upstreamErrorName(errorBody) });
    throw this.#explain?.(status, errorBody) ?? upstreamStatusError(status, response.headers);
  }

  #fetchThroughCircuit(
    signal: AbortSignal,
    timer: ProgressTimer,
    options: RequestOptions,
  ): Promise<Response> {
    return this.#circuit.run(async () => {
      try {
        return await this.#fetchWithRetry(options, signal);
      } catch (error) {
        // An abort by the caller does not indicate that the server is unavailable.
        throw signal.aborted && !timer.signal.aborted ? error : new UnreachableError(error);
      }
    });
  }

  /** Converts the error of a failed call to one that is safe to show, and starts health checks if the server is unavailable. */
  #recordFailure(error: unknown, timer: ProgressTimer): ServiceError {
    const failure = this.#toServiceError(error, timer);
    this.#meter?.call(failure.kind === 'upstream' ? 'failed' : 'rejected');
    // Only connection errors and timeouts have a cause. A rejected request does not affect the next one.
    if (failure.kind === 'upstream' && failure.cause !== undefined) this.#startHealthChecks();
    return failure;
  }

  #markAvailable(): void {
    if (this.#probe === undefined) return;
    clearTimeout(this.#probe);
    this.#probe = undefined;
    this.#log.info('upstream recovered');
  }

  async #fetchWithRetry(
    { method, path, body, headers = {} }: RequestOptions,
    signal: AbortSignal,
  ): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const send = (traceHeaders: Readonly<Record<string, string>>) =>
          fetch(`${this.#settings.baseUrl}${path}`, {
            method,
            // A redirect could carry the key to another host.
            redirect: 'error',
            headers: { ...headers, ...traceHeaders, ...this.#authorization() },
            ...(body !== undefined && { body }),
            signal,
          });
        return await (this.#meter?.request(method, send) ?? send({}));
      } catch (error) {
        const delayMs = CONNECT_RETRY_DELAYS_MS[attempt];
        if (delayMs === undefined || !isConnectError(error)) throw error;
        await sleep(delayMs, undefined, { signal });
      }
    }
  }

  #authorization(): Record<string, string> {
    const { apiKey } = this.#settings;
    return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.reveal()}` };
  }

  #toServiceError(error: unknown, timer: ProgressTimer): ServiceError {
    if (this.#closed.signal.aborted) return this.#closed.signal.reason;
    if (error instanceof ServiceError) return error;
    if (timer.signal.aborted) return upstreamError('the request timed out', error);
    return upstreamError('the connection failed', error);
  }

  /** Polls the server until it is available again. Until then, {@link ready} reports it as unavailable. */
  #startHealthChecks(): void {
    if (this.#probe !== undefined || this.#closed.signal.aborted) return;
    this.#log.warn('upstream unavailable');
    const check = async () => {
      const isHealthy = await this.#circuit.run(() => this.#checkHealth()).catch(() => false);
      // A call may have succeeded during the check.
      if (this.#probe === undefined || this.#closed.signal.aborted) return;
      if (isHealthy) this.#markAvailable();
      else this.#probe = setTimeout(check, this.#probeMs).unref();
    };
    this.#probe = setTimeout(check, this.#probeMs).unref();
  }

  /** Requests `/models`. @throws UnreachableError unless the status is below 500. */
  async #checkHealth(): Promise<true> {
    try {
      const response = await fetch(`${this.#settings.baseUrl}/models`, {
        redirect: 'error',
        headers: this.#authorization(),
        signal: AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.#probeMs)]),
      });
      await response.body?.cancel();
      if (response.status < 500) return true;
    } catch (error) {
      throw new UnreachableError(error);
    }
    throw new UnreachableError('the server returns errors');
  }
}

/** Yields the chunks of a body. The timer is paused while the consumer processes a chunk. */
async function* readChunks(
  response: Response,
  timer: ProgressTimer,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of response.body ?? []) {
    timer.pause();
    yield chunk;
    timer.resume();
  }
}

/** Aborts its signal when a time elapses, without the pauses. */
class ProgressTimer {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #leftMs: number;
  /** When {@link #leftMs} began to elapse; undefined during a pause. */
  #runningSinceMs: number | undefined;

  constructor(ms: number) {
    this.#leftMs = ms;
    this.resume();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sets the time that is left. A pause continues. */
  restart(ms: number): void {
    const isRunning = this.#runningSinceMs !== undefined;
    this.pause();
    this.#leftMs = ms;
    if (isRunning) this.resume();
  }

  pause(): void {
    clearTimeout(this.#timer);
    if (this.#runningSinceMs === undefined) return;
    this.#leftMs -= systemClock.monotonicMs() - this.#runningSinceMs;
    this.#runningSinceMs = undefined;
  }

  resume(): void {
    this.#runningSinceMs = systemClock.monotonicMs();
    this.#timer = setTimeout(() => this.#controller.abort(), Math.max(0, this.#leftMs));
  }
}

function isConnectError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CONNECT_ERROR_CODES.has(error.code);
}

/** The start of a body as text: stops after the first chunk that exceeds `maxLength` characters. */
async function readTextPrefix(response: Response, maxLength: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxLength) break;
    }
  } catch {
    // The status is sufficient if the body is incomplete.
  }
  return text;
}
