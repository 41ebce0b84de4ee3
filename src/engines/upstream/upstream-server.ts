/** Another server that speaks OpenAI's wire. Only its own key is sent to it, never a customer's. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadyReport } from '../../contract/engine.ts';
import { ServiceError, shuttingDown } from '../../contract/error.ts';
import type { Logger } from '../../contract/logger.ts';
import type { Secret } from '../../contract/secret.ts';
import { upstreamErrorName, upstreamFault, upstreamRefusal } from './upstream-error.ts';

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
  /** Pause between two looks at a server that failed. */
  readonly probeMs?: number | undefined;
}

/** A body that can be sent again. */
type Body = string | FormData;

export class UpstreamServer {
  readonly #settings: UpstreamServerOptions['settings'];
  readonly #log: Logger;
  readonly #probeMs: number;
  readonly #closed = new AbortController();
  #probe: ReturnType<typeof setTimeout> | undefined;

  constructor({ settings, log, probeMs = 5_000 }: UpstreamServerOptions) {
    this.#settings = settings;
    this.#log = log;
    this.#probeMs = probeMs;
  }

  /** Fires when the engine is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /**
   * Posts to a path below the base URL. A connection that cannot be made is tried three times.
   * @param tolerated statuses other than 2xx that the caller understands.
   * @throws ServiceError for an answer of another status, and whatever the connection throws: see {@link failure}.
   */
  async post(
    path: string,
    body: Body,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    tolerated: readonly number[] = [],
  ): Promise<Response> {
    const response = await this.#reach(path, body, headers, signal);
    const { status } = response;
    if (response.ok || tolerated.includes(status)) return response;
    const name = upstreamErrorName(await textUpTo(response, ERROR_BODY_BYTES));
    this.#log.warn('upstream refused', { status, error: name });
    throw upstreamRefusal(status, response.headers);
  }

  /** What a caller may know of a failed call; `patience` tells whether it took too long. */
  failure(error: unknown, patience: Patience): ServiceError {
    const failure = this.#explain(error, patience);
    // A refusal of one request says nothing of the next; an upstream that is away does.
    if (failure.kind === 'upstream' && failure.cause !== undefined) this.#lost();
    return failure;
  }

  /** Says that a call went well. */
  reached(): void {
    if (this.#probe === undefined) return;
    clearTimeout(this.#probe);
    this.#probe = undefined;
    this.#log.info('upstream answers again');
  }

  ready(): ReadyReport {
    if (this.#probe === undefined) return { ready: true, detail: 'upstream' };
    return { ready: false, detail: 'the upstream does not answer' };
  }

  async close(): Promise<void> {
    clearTimeout(this.#probe);
    this.#closed.abort(shuttingDown());
  }

  async #reach(
    path: string,
    body: Body,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await fetch(`${this.#settings.baseUrl}${path}`, {
          method: 'POST',
          // A redirect could carry the key to another host.
          redirect: 'error',
          headers: { ...headers, ...this.#authorization() },
          body,
          signal,
        });
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

  #explain(error: unknown, patience: Patience): ServiceError {
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
      if (await this.#answers()) this.reached();
      else if (!this.#closed.signal.aborted) this.#probe = setTimeout(look, this.#probeMs).unref();
    };
    this.#probe = setTimeout(look, this.#probeMs).unref();
  }

  async #answers(): Promise<boolean> {
    try {
      const response = await fetch(`${this.#settings.baseUrl}/models`, {
        redirect: 'error',
        headers: this.#authorization(),
        signal: AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.#probeMs)]),
      });
      await response.body?.cancel();
      return response.status < 500;
    } catch {
      return false;
    }
  }
}

/** A deadline that is moved on with each sign of life and stands still while the consumer is busy. */
export class Patience {
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
