/** Maps positions of a combined timeline to the clip and to the segment that follows it. Pure. */

export interface PartLengths {
  /** Durations in seconds. */
  readonly clipS: number;
  readonly segmentS: number;
}

export interface PlayPosition {
  readonly part: 'clip' | 'segment';
  /** Offset within the part in seconds. */
  readonly atS: number;
}

/** @param atS offset on the combined timeline in seconds; clamped to its ends. */
export function positionOf(atS: number, { clipS, segmentS }: PartLengths): PlayPosition {
  const within = Math.min(Math.max(atS, 0), clipS + segmentS);
  return within < clipS ? { part: 'clip', atS: within } : { part: 'segment', atS: within - clipS };
}

/** Offset on the combined timeline in seconds. */
export function momentOf({ part, atS }: PlayPosition, { clipS }: PartLengths): number {
  return part === 'clip' ? atS : clipS + atS;
}

/** Formats minutes, seconds and tenths: `0:07.5`. */
export function formatClock(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const rest = (tenths % 600) / 10;
  return `${Math.floor(tenths / 600)}:${rest.toFixed(1).padStart(4, '0')}`;
}
