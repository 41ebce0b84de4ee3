/**
 * Text generation with llama.cpp. Requests are converted to messages and a grammar, and the output to events. The model
 * runs in worker processes: one permanent worker and, on CPUs, a low-priority worker for batch requests that is started on
 * demand, so that batches do not delay other requests.
 */

import { shuttingDown } from '../../../contract/core/error.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import type { TextEngine, TextEvent, TextRequest } from '../../../contract/engines/text.ts';
import { llamaFile } from '../shared/model-file.ts';
import type { LoadedLlama } from '../shared/protocol.ts';
import { LlamaWorkerClient, type LlamaWorkerOptions } from './worker-client.ts';

/** Idle time after which the batch worker is stopped to release its memory. */
const BATCH_IDLE_MS = 300_000;

export interface LlamaOptions extends Omit<LlamaWorkerOptions, 'model' | 'lowPriority'> {
  readonly modelsDir: string;
  /** Idle time before the batch worker stops. Default: five minutes. */
  readonly batchIdleMs?: number;
}

/**
 * Opens the engine and waits until its worker has loaded the model.
 * @throws Error with the name of the missing or damaged file or library.
 */
export async function openLlama(options: LlamaOptions): Promise<TextEngine> {
  const file = llamaFile(options.settings.weights, options.modelsDir);
  const worker = new LlamaWorkerClient({ ...options, model: file, lowPriority: false });
  try {
    return new LlamaEngine(file, options, worker, await worker.start());
  } catch (error) {
    await worker.close();
    const reason = error instanceof Error ? error.message : String(error);
    // llama.cpp reports no details for a file that it cannot read.
    const hint = reason.includes('exited before')
      ? ' The file may be damaged or require a newer version of llama.cpp.'
      : '';
    throw new Error(`The language model ${file} could not be loaded: ${reason}${hint}`, { cause: error });
  }
}

class LlamaEngine implements TextEngine {
  readonly contextTokens: number;
  readonly #model: string;
  readonly #options: LlamaOptions;
  readonly #info: LoadedLlama;
  readonly #worker: LlamaWorkerClient;
  #batchWorker: LlamaWorkerClient | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(model: string, options: LlamaOptions, worker: LlamaWorkerClient, info: LoadedLlama) {
    this.contextTokens = info.contextTokens;
    this.#model = model;
    this.#options = options;
    this.#info = info;
    this.#worker = worker;
  }

  async *generate(request: TextRequest, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    // On a GPU, a second worker would need memory for a second copy of the weights.
    const usesBatchWorker = request.priority === 'batch' && this.#options.inference.provider === 'cpu';
    if (!usesBatchWorker) {
      yield* this.#worker.generate(request, this.#info, signal);
      return;
    }
    const worker = this.#ensureBatchWorker();
    try {
      yield* worker.generate(request, this.#info, signal);
    } finally {
      if (!worker.busy) this.#closeWhenIdle(worker);
    }
  }

  ready(): ReadyReport {
    const ready = this.#worker.loaded;
    return {
      ready,
      detail: ready ? `llama, ${this.#options.inference.provider}` : 'worker is starting',
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await Promise.all([this.#worker.close(), this.#batchWorker?.close()]);
  }

  #ensureBatchWorker(): LlamaWorkerClient {
    if (this.#closed) throw shuttingDown();
    clearTimeout(this.#idle);
    if (this.#batchWorker) return this.#batchWorker;
    const worker = new LlamaWorkerClient({ ...this.#options, model: this.#model, lowPriority: true });
    this.#batchWorker = worker;
    // The waiting requests receive the error. The worker is restarted automatically.
    worker.start().catch((error: unknown) => {
      if (this.#batchWorker === worker && !this.#closed)
        this.#options.log.error('batch worker could not be started', error);
    });
    return worker;
  }

  #closeWhenIdle(worker: LlamaWorkerClient): void {
    if (this.#closed) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (worker !== this.#batchWorker) return;
      this.#batchWorker = undefined;
      void worker.close();
    }, this.#options.batchIdleMs ?? BATCH_IDLE_MS);
  }
}
