import {
  createBatch,
  type Fetching,
  retrieveBatch,
  uploadInput,
} from '../../tools/harness/services/batch-service.ts';

const POLL_MS = 50;

/**
 * Uploads lines, runs them as a batch and waits for its end.
 * @returns how long it took from its creation, in ms.
 * @throws Error unless every line succeeded.
 */
export async function runBatch(
  service: Fetching,
  lines: readonly string[],
  endpoint: string,
): Promise<number> {
  const input = await uploadInput(service, lines.join('\n'));
  const start = performance.now();
  let batch = await createBatch(service, input, endpoint);
  while (['validating', 'in_progress', 'finalizing'].includes(batch.status)) {
    await Bun.sleep(POLL_MS);
    batch = await retrieveBatch(service, batch.id);
  }
  const { completed } = batch.request_counts;
  if (batch.status !== 'completed' || completed !== lines.length) {
    throw new Error(`a batch ended as ${batch.status} with ${completed} of ${lines.length} lines`);
  }
  return performance.now() - start;
}
