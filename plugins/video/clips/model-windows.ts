/** Clip and segment limits of each model (spec 4.6). */

/** Inclusive range, in seconds. */
export interface SecondsRange {
  readonly minimum: number;
  readonly maximum: number;
}

export interface ModelWindow {
  /** Length of the new segment. */
  readonly segmentS: SecondsRange;
  /** Length of the clip. */
  readonly clipS: SecondsRange;
  /** Maximum shorter side of a clip, in pixels; undefined: unlimited, the segment is scaled to {@link ceiling}. */
  readonly maxClip: number | undefined;
  /** Maximum shorter side of a segment, in pixels. */
  readonly ceiling: number;
}

const SHORT = { segmentS: { minimum: 4, maximum: 15 }, clipS: { minimum: 2, maximum: 15 } };
const SMALL: ModelWindow = { ...SHORT, maxClip: 720, ceiling: 720 };
const PINNED: ModelWindow = { ...SHORT, maxClip: undefined, ceiling: 1080 };
const LONG: ModelWindow = {
  segmentS: { minimum: 4, maximum: 30 },
  clipS: { minimum: 2, maximum: 30 },
  maxClip: 1080,
  ceiling: 1080,
};

const WINDOWS: ReadonlyMap<string, ModelWindow> = new Map([
  ['vid-2.0-mini', SMALL],
  ['vid-2.0-fast', SMALL],
  ['vid-2.0', PINNED],
  ['vid-2.5', LONG],
]);

/** The limits of a model. Models added in CONFIG have those of `vid-2.0`. */
export function windowOf(model: string): ModelWindow {
  return WINDOWS.get(model) ?? PINNED;
}
