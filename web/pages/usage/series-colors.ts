/** Colors of the series of the usage chart. */

/** Colors of named series, far apart in both color schemes. */
export const SERIES_COLORS = [
  ...(['indigo.6', 'orange.6', 'teal.6', 'grape.6', 'yellow.6'] as const),
  ...(['cyan.6', 'red.6', 'lime.6', 'pink.6', 'violet.6'] as const),
] as const;

/** Color of the combined smallest series. */
export const OTHERS_COLOR = 'gray.6';

/** Index in {@link SERIES_COLORS} by the name of the series. */
export type ColorIndexes = Readonly<Record<string, number>>;

/** Maximum number of remembered names. */
const MAX_NAMES = 200;

/**
 * Adds the names that have no color yet. A name prefers the color of its hash, so that other browsers usually show it in the
 * same color, and otherwise gets one of the least used colors. Known names keep their color.
 * @param names series of the chart.
 * @param known earlier result.
 */
export function withColors(names: readonly string[], known: ColorIndexes): ColorIndexes {
  const kept = Object.keys(known).length + names.length > MAX_NAMES ? only(names, known) : known;
  const indexes = new Map(Object.entries(kept));
  for (const name of [...names].sort()) {
    if (!indexes.has(name)) indexes.set(name, freeIndex(name, [...indexes.values()]));
  }
  return Object.fromEntries(indexes);
}

function only(names: readonly string[], known: ColorIndexes): ColorIndexes {
  return Object.fromEntries(Object.entries(known).filter(([name]) => names.includes(name)));
}

/** The least used index; of several, the first one from the hash of the name. */
function freeIndex(name: string, used: readonly number[]): number {
  const first = hashOf(name);
  const candidates = SERIES_COLORS.map((_, offset) => (first + offset) % SERIES_COLORS.length);
  const uses = (index: number) => used.filter((each) => each === index).length;
  return candidates.reduce((best, index) => (uses(index) < uses(best) ? index : best));
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** Reads a stored result of {@link withColors}; empty if the text is none. */
export function parseColors(stored: string | null): ColorIndexes {
  try {
    const value: unknown = JSON.parse(stored ?? '{}');
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).filter(([, index]) => SERIES_COLORS[index as number] !== undefined),
    );
  } catch {
    return {};
  }
}
