/** Which inputs run in one pass: those of like length, because each is padded to the longest. */

/** Tokens of a pass with its padding: 20 ms of two cores. More at once would not be quicker, and others wait longer. */
const MAX_TOKENS = 128;
/** Tokens that the longest of a pass may have beyond twice the shortest. */
const SHORT_TOKENS = 16;

/**
 * Places of inputs, pass by pass, the shortest first. A pass holds at least one input, and at most
 * {@link MAX_TOKENS} tokens when it holds several.
 * @param lengths tokens of each input.
 */
export function lengthBuckets(lengths: readonly number[]): number[][] {
  const order = lengths.map((_, place) => place).sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0));
  const buckets: number[][] = [];
  let bucket: number[] = [];
  for (const place of order) {
    const longest = lengths[place] ?? 0;
    const shortest = lengths[bucket[0] ?? place] ?? 0;
    const unlike = longest > 2 * shortest + SHORT_TOKENS;
    if (bucket.length > 0 && (unlike || longest * (bucket.length + 1) > MAX_TOKENS)) {
      buckets.push(bucket);
      bucket = [];
    }
    bucket.push(place);
  }
  if (bucket.length > 0) buckets.push(bucket);
  return buckets;
}
