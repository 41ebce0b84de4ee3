/** What each model continues, and into what (spec 4.6). */

/** Both ends are allowed. */
export interface SecondsRange {
  readonly minimum: number;
  readonly maximum: number;
}

export interface ModelWindow {
  /** Length of the new segment. */
  readonly segmentS: SecondsRange;
  /** Length of the clip. */
  readonly clipS: SecondsRange;
  /** Shorter side of the largest clip, in pixels; undefined where a larger one is continued at {@link ceiling}. */
  readonly maxClip: number | undefined;
  /** Shorter side of the largest segment, in pixels. */
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

/** The window of a model; one that CONFIG adds has that of `vid-2.0`. */
export function windowOf(model: string): ModelWindow {
  return WINDOWS.get(model) ?? PINNED;
}
