/** A clip and its segment as one thing that plays: where in which of them a moment is. Pure. */

export interface PartLengths {
  /** Seconds. */
  readonly clipS: number;
  readonly segmentS: number;
}

export interface PlayPosition {
  readonly part: 'clip' | 'segment';
  /** Seconds from the beginning of the part. */
  readonly atS: number;
}

/** @param atS seconds from the beginning of the clip; what is outside becomes the nearest end. */
export function positionOf(atS: number, { clipS, segmentS }: PartLengths): PlayPosition {
  const within = Math.min(Math.max(atS, 0), clipS + segmentS);
  return within < clipS ? { part: 'clip', atS: within } : { part: 'segment', atS: within - clipS };
}

/** Seconds from the beginning of the clip. */
export function momentOf({ part, atS }: PlayPosition, { clipS }: PartLengths): number {
  return part === 'clip' ? atS : clipS + atS;
}

/** `0:07.5`: minutes, seconds and tenths. */
export function clockWords(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const rest = (tenths % 600) / 10;
  return `${Math.floor(tenths / 600)}:${rest.toFixed(1).padStart(4, '0')}`;
}
