/** Another server that speaks OpenAI's wire. Only its own key is sent to it, never a customer's. */

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { Secret } from '../../../contract/core/secret.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import { Unreached, UpstreamCircuit } from './circuit-breaker.ts';
import { upstreamErrorName, upstreamFault, upstreamRefusal } from './errors.ts';
import type { UpstreamMeter } from './metrics.ts';

const ERROR_BODY_BYTES = 64 * 1024;
/** Waits before a connection that could not be made is tried again. */
const CONNECT_WAITS_MS = [100, 400];
/** What Bun and the system call a server that was never reached, so that nothing was sent twice. */
const NOT_REACHED: ReadonlySet<unknown> = new Set([
  'ConnectionRefused',
  'FailedToOpenSocket',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

export interface UpstreamServerOptions {
  readonly settings: { readonly baseUrl: string; readonly apiKey: Secret | undefined };
  readonly log: Logger;
  /** Counts what becomes of its calls. */
  readonly meter?: UpstreamMeter | undefined;
  /** Pause between two looks at a server that failed. */
  readonly probeMs?: number | undefined;
  /**
   * What a caller may know of an answer of this status, when it is more than that the server failed. The body is
   * the beginning of what the server said, which must not be shown.
   */
  readonly explain?: ((status: number, body: string) => ServiceError | undefined) | undefined;
}

/** A body that can be sent again. */
type Body = string | FormData;

interface Asked {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: Body;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How long a server may take. */
export interface CallLimits {
  readonly firstByteMs: number;
  readonly idleMs: number;
}

/** One conversation with a server. */
export interface UpstreamCall {
  /**
   * Posts to a path below the base URL. A connection that cannot be made is tried three times.
   * @param tolerated statuses other than 2xx that the caller understands.
   * @throws ServiceError for an answer of another status.
   */
  post(
    path: string,
    body: Body,
    headers?: Readonly<Record<string, string>>,
    tolerated?: readonly number[],
  ): Promise<Response>;
  /** Asks without a body; the answer is of any status. A connection that cannot be made is tried three times. */
  ask(method: 'GET' | 'DELETE', path: string): Promise<Response>;
  /** Portions of a response's body, as they come. */
  portionsOf(response: Response): AsyncGenerator<Uint8Array, void, undefined>;
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
    // Looks are a little apart by the clock of the circuit, so half of their pause is sure to be over.
    this.#circuit = new UpstreamCircuit(probeMs / 2, (state) => {
      if (this.#closed.signal.aborted) return;
      this.#meter?.circuit(state);
      this.#log.warn('upstream circuit', { state });
      if (state === 'open') this.#lost();
    });
  }

  /**
   * Has a conversation and yields what comes of it. It ends with the consumer, the signal and {@link close}, and
   * when the server takes too long.
   * @param limits how long the server may take until its first byte, and between two portions.
   * @throws ServiceError that a caller may read; the signal's reason after an abort.
   */
  async *call<Item, Result>(
    limits: CallLimits,
    signal: AbortSignal,
    talk: (call: UpstreamCall) => AsyncGenerator<Item, Result, undefined>,
  ): AsyncGenerator<Item, Result, undefined> {
    const patience = new Patience(limits.firstByteMs);
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, patience.signal, stop.signal, this.#closed.signal]);
    try {
      const result = yield* talk({
        post: (...asked) => this.#post(ended, patience, ...asked),
        ask: (method, path) => this.#exchange(ended, patience, { method, path }),
        portionsOf: (response) => portionsOf(response, patience, limits.idleMs),
      });
      this.#reached();
      this.#meter?.call('succeeded');
      return result;
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failure(error, patience);
    } finally {
      patience.pause();
      // Tells the server to stop when the consumer has gone before the end.
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
    patience: Patience,
    path: string,
    body: Body,
    headers: Readonly<Record<string, string>> = {},
    tolerated: readonly number[] = [],
  ): Promise<Response> {
    const response = await this.#exchange(signal, patience, { method: 'POST', path, body, headers });
    const { status } = response;
    if (response.ok || tolerated.includes(status)) return response;
    const said = await textUpTo(response, ERROR_BODY_BYTES);
    this.#log.warn('upstream refused', { status, error: upstreamErrorName(said) });
    throw this.#explain?.(status, said) ?? upstreamRefusal(status, response.headers);
  }

  #exchange(signal: AbortSignal, patience: Patience, asked: Asked): Promise<Response> {
    return this.#circuit.run(async () => {
      try {
        return await this.#reach(asked, signal);
      } catch (error) {
        // Whoever leaves says nothing of the server.
        throw signal.aborted && !patience.signal.aborted ? error : new Unreached(error);
      }
    });
  }

  /** What a caller may know of a failed call; `patience` tells whether it took too long. */
  #failure(error: unknown, patience: Patience): ServiceError {
    const failure = this.#reason(error, patience);
    this.#meter?.call(failure.kind === 'upstream' ? 'failed' : 'rejected');
    // A refusal of one request says nothing of the next; an upstream that is away does.
    if (failure.kind === 'upstream' && failure.cause !== undefined) this.#lost();
    return failure;
  }

  /** A call went well. */
  #reached(): void {
    if (this.#probe === undefined) return;
    clearTimeout(this.#probe);
    this.#probe = undefined;
    this.#log.info('upstream answers again');
  }

  async #reach({ method, path, body, headers = {} }: Asked, signal: AbortSignal): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const send = (traced: Readonly<Record<string, string>>) =>
          fetch(`${this.#settings.baseUrl}${path}`, {
            method,
            // A redirect could carry the key to another host.
            redirect: 'error',
            headers: { ...headers, ...traced, ...this.#authorization() },
            ...(body !== undefined && { body }),
            signal,
          });
        return await (this.#meter?.request(method, send) ?? send({}));
      } catch (error) {
        const waitMs = CONNECT_WAITS_MS[attempt];
        if (waitMs === undefined || !isNotReached(error)) throw error;
        await sleep(waitMs, undefined, { signal });
      }
    }
  }

  #authorization(): Record<string, string> {
    const { apiKey } = this.#settings;
    return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.reveal()}` };
  }

  #reason(error: unknown, patience: Patience): ServiceError {
    if (this.#closed.signal.aborted) return this.#closed.signal.reason;
    if (error instanceof ServiceError) return error;
    if (patience.signal.aborted) return upstreamFault('it took too long', error);
    return upstreamFault('the connection to it could not be made, or broke', error);
  }

  /** Looks from time to time whether the upstream is back; until then the service is not ready. */
  #lost(): void {
    if (this.#probe !== undefined || this.#closed.signal.aborted) return;
    this.#log.warn('upstream does not answer');
    const look = async () => {
      const answers = await this.#circuit.run(() => this.#answers()).catch(() => false);
      // A call may have gone well meanwhile.
      if (this.#probe === undefined || this.#closed.signal.aborted) return;
      if (answers) this.#reached();
      else this.#probe = setTimeout(look, this.#probeMs).unref();
    };
    this.#probe = setTimeout(look, this.#probeMs).unref();
  }

  /** @throws Unreached */
  async #answers(): Promise<true> {
    try {
      const response = await fetch(`${this.#settings.baseUrl}/models`, {
        redirect: 'error',
        headers: this.#authorization(),
        signal: AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.#probeMs)]),
      });
      await response.body?.cancel();
      if (response.status < 500) return true;
    } catch (error) {
      throw new Unreached(error);
    }
    throw new Unreached('it answers with failures');
  }
}

/** The body; the consumer's time is not the server's. */
async function* portionsOf(
  response: Response,
  patience: Patience,
  idleMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const portion of response.body ?? []) {
    patience.pause();
    yield portion;
    patience.start(idleMs);
  }
}

/** A deadline that is moved on with each sign of life and stands still while the consumer is busy. */
class Patience {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(firstMs: number) {
    this.start(firstMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), ms);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }
}

function isNotReached(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NOT_REACHED.has(error.code);
}

async function textUpTo(response: Response, bytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const portion of response.body ?? []) {
      text += decoder.decode(portion, { stream: true });
      if (text.length > bytes) break;
    }
  } catch {
    // A body that breaks off still leaves its status.
  }
  return text;
}
