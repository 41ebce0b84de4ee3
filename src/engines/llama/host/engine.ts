/**
 * A language model on llama.cpp. Requests become messages and a grammar, and their answers events; the model runs
 * in processes of its own, which may die without harm: one that is always there, and on CPUs another one for
 * batches while there are any, so that nobody who waits for an answer ever waits behind them.
 */

import { shuttingDown } from '../../../contract/core/error.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import type { TextEngine, TextEvent, TextRequest } from '../../../contract/engines/text.ts';
import { llamaFile } from '../shared/model-file.ts';
import type { LoadedLlama } from '../shared/protocol.ts';
import { LlamaLane, type LlamaLaneOptions } from './worker-client.ts';

/** A process for batches that has had nothing to do for so long gives its memory back. */
const BATCH_IDLE_MS = 300_000;

export interface LlamaOptions extends Omit<LlamaLaneOptions, 'model' | 'nice'> {
  readonly modelsDir: string;
  /** Default: five minutes. */
  readonly batchIdleMs?: number;
}

/**
 * Opens the engine and waits until its process has loaded the model.
 * @throws Error that says what is missing: the file, a library of the provider.
 */
export async function openLlama(options: LlamaOptions): Promise<TextEngine> {
  const file = llamaFile(options.settings.weights, options.modelsDir);
  const lane = new LlamaLane({ ...options, model: file, nice: false });
  try {
    return new LlamaEngine(file, options, lane, await lane.start());
  } catch (error) {
    await lane.close();
    const why = error instanceof Error ? error.message : String(error);
    // The library does not say more of a file that it cannot read.
    const hint = why.includes('ended before') ? ' The file may be damaged, or need a newer llama.cpp.' : '';
    throw new Error(`The language model ${file} cannot be loaded: ${why}${hint}`, { cause: error });
  }
}

class LlamaEngine implements TextEngine {
  readonly contextTokens: number;
  readonly #model: string;
  readonly #options: LlamaOptions;
  readonly #known: LoadedLlama;
  readonly #lane: LlamaLane;
  #batches: LlamaLane | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(model: string, options: LlamaOptions, lane: LlamaLane, known: LoadedLlama) {
    this.contextTokens = known.contextTokens;
    this.#model = model;
    this.#options = options;
    this.#known = known;
    this.#lane = lane;
  }

  async *generate(request: TextRequest, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    // A GPU would have to hold the weights twice.
    const apart = request.priority === 'batch' && this.#options.inference.provider === 'cpu';
    if (!apart) {
      yield* this.#lane.generate(request, this.#known, signal);
      return;
    }
    const lane = this.#laneOfBatches();
    try {
      yield* lane.generate(request, this.#known, signal);
    } finally {
      if (!lane.busy) this.#closeWhenIdle(lane);
    }
  }

  ready(): ReadyReport {
    const ready = this.#lane.loaded;
    return {
      ready,
      detail: ready ? `llama, ${this.#options.inference.provider}` : 'its process is being started',
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await Promise.all([this.#lane.close(), this.#batches?.close()]);
  }

  #laneOfBatches(): LlamaLane {
    if (this.#closed) throw shuttingDown();
    clearTimeout(this.#idle);
    if (this.#batches) return this.#batches;
    const lane = new LlamaLane({ ...this.#options, model: this.#model, nice: true });
    this.#batches = lane;
    // Who waits for it hears of it; it is tried again meanwhile.
    lane.start().catch((error: unknown) => {
      if (this.#batches === lane && !this.#closed)
        this.#options.log.error('no process for batches could be started', error);
    });
    return lane;
  }

  #closeWhenIdle(lane: LlamaLane): void {
    if (this.#closed) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (lane !== this.#batches) return;
      this.#batches = undefined;
      void lane.close();
    }, this.#options.batchIdleMs ?? BATCH_IDLE_MS);
  }
}
