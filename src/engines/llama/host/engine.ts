/**
 * Text generation with llama.cpp. Requests are converted to messages and a grammar, and the output to events. The model
 * runs in worker processes: one permanent worker and, on CPUs, a low-priority worker for batch requests that is started on
 * demand, so that batches do not delay other requests.
 */

import type { ReadyReport } from '../../../contract/engines/engine.ts';
import type { PromptStart, TextEngine, TextEvent, TextRequest } from '../../../contract/engines/text.ts';
import { BackgroundWorker } from '../../../inference/workers/background-worker.ts';
import { ExitedWhileLoadingError } from '../../../inference/workers/supervised-process.ts';
import { llamaFile } from '../shared/model-file.ts';
import type { LoadedLlama } from '../shared/protocol.ts';
import { LlamaWorkerClient, type LlamaWorkerOptions } from './worker-client.ts';

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
    const info = await worker.start();
    if (info.providerProblem !== undefined) {
      options.log.warn('the language model runs on the CPU instead of CUDA', {
        reason: info.providerProblem,
      });
    }
    return new LlamaEngine(file, options, worker, info);
  } catch (error) {
    await worker.close();
    const reason = error instanceof Error ? error.message : String(error);
    // llama.cpp reports no details for a file that it cannot read.
    const hint =
      error instanceof ExitedWhileLoadingError
        ? ' The file may be damaged or require a newer version of llama.cpp.'
        : '';
    throw new Error(`The language model ${file} could not be loaded: ${reason}${hint}`, { cause: error });
  }
}

class LlamaEngine implements TextEngine {
  readonly contextTokens: number;
  readonly #info: LoadedLlama;
  readonly #worker: LlamaWorkerClient;
  readonly #batchWorker: BackgroundWorker<LlamaWorkerClient>;

  constructor(model: string, options: LlamaOptions, worker: LlamaWorkerClient, info: LoadedLlama) {
    this.contextTokens = info.contextTokens;
    this.#info = info;
    this.#worker = worker;
    this.#batchWorker = new BackgroundWorker({
      name: 'batch worker',
      createWorker: () => new LlamaWorkerClient({ ...options, model, lowPriority: true }),
      log: options.log,
      idleMs: options.batchIdleMs,
    });
  }

  generate(request: TextRequest, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    // On a GPU, a second worker would need memory for a second copy of the weights.
    const usesBatchWorker = request.priority === 'batch' && this.#info.provider === 'cpu';
    const generate = (worker: LlamaWorkerClient) => worker.generate(request, this.#info, signal);
    return usesBatchWorker ? this.#batchWorker.runJob(generate) : generate(this.#worker);
  }

  async prepare(start: PromptStart, signal: AbortSignal): Promise<void> {
    await this.#worker.prepare(start, this.#info, signal);
  }

  ready(): ReadyReport {
    const ready = this.#worker.loaded;
    return {
      ready,
      detail: ready ? `llama, ${this.#info.provider}` : 'worker is starting',
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#worker.close(), this.#batchWorker.close()]);
  }
}
