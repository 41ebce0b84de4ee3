/** Groups inputs of similar length into inference batches, because each input is padded to the longest of its batch. */

/** Maximum tokens of a batch including padding: 20 ms on two cores. Larger batches are not faster and delay other requests. */
const MAX_TOKENS = 128;
/** Tokens by which the longest input of a batch may exceed twice the shortest. */
const LENGTH_TOLERANCE = 16;

/**
 * Returns batches of input indexes, shortest inputs first. A batch with several inputs has at most {@link MAX_TOKENS} tokens
 * including padding.
 * @param lengths number of tokens of each input.
 */
export function batchByLength(lengths: readonly number[]): number[][] {
  const order = lengths.map((_, index) => index).sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0));
  const batches: number[][] = [];
  let batch: number[] = [];
  for (const index of order) {
    const longest = lengths[index] ?? 0;
    const shortest = lengths[batch[0] ?? index] ?? 0;
    const isTooDifferent = longest > 2 * shortest + LENGTH_TOLERANCE;
    if (batch.length > 0 && (isTooDifferent || longest * (batch.length + 1) > MAX_TOKENS)) {
      batches.push(batch);
      batch = [];
    }
    batch.push(index);
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
