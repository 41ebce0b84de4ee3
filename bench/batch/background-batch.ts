import {
  BATCH_ENDS,
  createBatch,
  type Fetching,
  retrieveBatch,
  uploadInput,
} from '../../tools/harness/services/batch-service.ts';

const POLL_MS = 50;
/** Completed lines after which a batch counts as running, since its model is loaded. */
const UNDER_WAY = 1;

/** A batch that runs during measurements. It is restarted for each measurement. */
export class BackgroundBatch {
  readonly #service: Fetching;
  readonly #endpoint: string;
  readonly #input: string;

  private constructor(service: Fetching, endpoint: string, input: string) {
    this.#service = service;
    this.#endpoint = endpoint;
    this.#input = input;
  }

  /** @param lines more lines than can be completed during a measurement. */
  static async open(service: Fetching, endpoint: string, lines: readonly string[]): Promise<BackgroundBatch> {
    return new BackgroundBatch(service, endpoint, await uploadInput(service, lines.join('\n')));
  }

  /**
   * Starts the batch, waits for its first results, measures, and cancels it.
   * @returns completed lines per second during the measurement.
   * @throws Error if the batch ends before the measurement.
   */
  async during(measure: () => Promise<void>): Promise<number> {
    const service = this.#service;
    let batch = await createBatch(service, this.#input, this.#endpoint);
    const poll = async () => {
      await Bun.sleep(POLL_MS);
      batch = await retrieveBatch(service, batch.id);
    };
    while (batch.request_counts.completed < UNDER_WAY && !BATCH_ENDS.has(batch.status)) await poll();
    const before = batch.request_counts.completed;
    const startMs = performance.now();
    await measure();
    await poll();
    const seconds = (performance.now() - startMs) / 1000;
    if (batch.status !== 'in_progress') throw new Error(`the batch was ${batch.status} too early`);
    const done = batch.request_counts.completed - before;
    await service.fetch(`/v1/batches/${batch.id}/cancel`, { method: 'POST' });
    while (!BATCH_ENDS.has(batch.status)) await poll();
    return done / seconds;
  }
}
