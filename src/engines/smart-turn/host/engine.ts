/**
 * End-of-turn detection with Smart Turn (docs/decisions/end-of-turn.md), host side. The worker process classifies one
 * request at a time, in order of arrival.
 */

import { fileURLToPath } from 'node:url';
import { ServiceError, StartError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { Metrics } from '../../../contract/core/metrics.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import type { TurnEndDetector } from '../../../contract/engines/turn-end.ts';
import { type SerialFailure, SerialProcess } from '../../../inference/workers/serial-process.ts';
import { restartCounter } from '../../../kit/process/restart-counter.ts';
import { smartTurnFile } from '../shared/file.ts';
import {
  type FromSmartTurn,
  type LoadSmartTurn,
  type ToSmartTurn,
  WINDOW_SAMPLES,
} from '../shared/protocol.ts';

const WORKER_ENTRY = fileURLToPath(new URL('../worker/main.ts', import.meta.url));

/** A load usually takes 0.5 s. */
const LOAD_TIMEOUT_MS = 60_000;
/** A request usually takes 0.1 s. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Queued requests, which wait about 0.1 s for each earlier one. A longer queue would delay results beyond a decision by silence. */
const MAX_QUEUED = 16;
/** More threads than these hardly reduce the duration of a request. */
const MAX_THREADS = 2;
const RETRY_AFTER_S = 1;

export interface SmartTurnOptions {
  readonly modelsDir: string;
  /** Threads of the inference settings; at most {@link MAX_THREADS} are used. */
  readonly threads: number;
  /** The whole environment of the process. Must not contain API keys of callers or upstreams. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Entry file of the process; overridden in tests. */
  readonly entry?: string;
  /** Requests that may wait for the running one. Default: 16. */
  readonly maxQueued?: number;
  readonly requestTimeoutMs?: number;
}

/**
 * Opens the detector and waits until its process has loaded the model.
 * @throws StartError when the model file is missing or the process fails to load it.
 */
export async function openSmartTurn(options: SmartTurnOptions): Promise<TurnEndDetector> {
  let detector: SmartTurn | undefined;
  try {
    detector = new SmartTurn(smartTurnFile(options.modelsDir), options);
    await detector.start();
    return detector;
  } catch (error) {
    await detector?.close();
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

class SmartTurn implements TurnEndDetector {
  readonly #process: SerialProcess<LoadSmartTurn, ToSmartTurn, FromSmartTurn>;

  constructor(model: string, options: SmartTurnOptions) {
    const { entry, threads, environment, log, metrics, maxQueued, requestTimeoutMs } = options;
    this.#process = new SerialProcess({
      name: 'end-of-turn process',
      entry: entry ?? WORKER_ENTRY,
      load: { model, threads: Math.min(MAX_THREADS, threads) },
      environment,
      loadTimeoutMs: LOAD_TIMEOUT_MS,
      log,
      maxWaiting: maxQueued ?? MAX_QUEUED,
      requestTimeoutMs: requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      failure,
      onExit: restartCounter(metrics, 'turn_end'),
    });
  }

  async start(): Promise<void> {
    await this.#process.start();
  }

  async probability(samples: Float32Samples, signal: AbortSignal): Promise<number> {
    // A copy, because only its end is sent, and because the caller may modify the array.
    const message = { samples: samples.slice(-WINDOW_SAMPLES) };
    return (await this.#process.request(message, signal)).probability;
  }

  ready(): ReadyReport {
    const ready = this.#process.loaded;
    return { ready, detail: ready ? 'smart-turn, cpu' : 'end-of-turn process is starting' };
  }

  async close(): Promise<void> {
    await this.#process.close();
  }
}

function failure(cause: SerialFailure): ServiceError {
  switch (cause) {
    case 'full':
      return overloaded('Too many turns are waiting for end-of-turn detection.');
    case 'failing':
      return overloaded('End-of-turn detection failed to start. The service is retrying.');
    case 'crashed':
      return new ServiceError(
        'internal',
        'End-of-turn detection crashed and is restarting. Retry the request.',
        { code: 'worker_crashed' },
      );
    case 'closed':
      return shuttingDown();
  }
}

function overloaded(message: string): ServiceError {
  return new ServiceError('overloaded', message, {
    code: 'server_overloaded',
    retryAfterS: RETRY_AFTER_S,
  });
}
