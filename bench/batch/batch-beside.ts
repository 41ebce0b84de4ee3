import {
  BATCH_ENDS,
  createBatch,
  type Fetching,
  retrieveBatch,
  uploadInput,
} from '../../tools/harness/services/batch-service.ts';

const POLL_MS = 50;
/** Lines that are done before it counts as running: its process has its model then. */
const UNDER_WAY = 1;

/** A batch that runs while something else is measured, again and again from its beginning. */
export class BatchBeside {
  readonly #service: Fetching;
  readonly #endpoint: string;
  readonly #input: string;

  private constructor(service: Fetching, endpoint: string, input: string) {
    this.#service = service;
    this.#endpoint = endpoint;
    this.#input = input;
  }

  /** @param lines more than can be done while one thing is measured. */
  static async open(service: Fetching, endpoint: string, lines: readonly string[]): Promise<BatchBeside> {
    return new BatchBeside(service, endpoint, await uploadInput(service, lines.join('\n')));
  }

  /**
   * Begins the batch, waits until lines of it are done, measures, and cancels it.
   * @returns lines that it completed per second in that time.
   * @throws Error when it ended before the measurement did.
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
