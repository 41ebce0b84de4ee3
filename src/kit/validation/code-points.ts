/** Returns the number of Unicode code points, the unit of characters in limits and prices. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
