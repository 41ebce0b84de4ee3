/** Unicode code points of a text: what limits and prices call characters. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
