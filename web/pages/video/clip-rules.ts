/**
 * Checks a clip against the limits of a model from `GET /v1/models`, so that the user sees problems before
 * the upload. The service does the real validation. Pure.
 */

export interface Range {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A model of `GET /v1/models`. */
export interface VideoModel {
  readonly id: string;
  readonly limits?: {
    /** Duration of the new segment in seconds. */
    readonly seconds?: Range;
    readonly clip_seconds?: Range;
    /** Width and height in pixels. */
    readonly clip_sides?: Range;
    readonly clip_short_side?: Range;
    readonly clip_bytes?: Range;
  };
}

/** Tolerance of the duration limits: about one frame. */
const FRAME_S = 1 / 24;

/** Properties of a clip that the browser can determine. */
export interface LocalClip {
  readonly bytes: number;
  /** Absent if the browser cannot decode the clip; the service may still accept it. */
  readonly picture?: { readonly width: number; readonly height: number; readonly seconds: number };
}

/** Why the service would reject the clip for this model; undefined if no problem is visible. */
export function clipHint({ bytes, picture }: LocalClip, { id, limits = {} }: VideoModel): string | undefined {
  if (!isWithin(limits.clip_bytes, bytes)) {
    return `The file has ${bytes} bytes; the limit is ${formatRange(limits.clip_bytes)}.`;
  }
  if (picture === undefined) return undefined;
  const { width, height, seconds } = picture;
  if (!isWithin(limits.clip_sides, width) || !isWithin(limits.clip_sides, height)) {
    return `The clip is ${width}x${height}; both sides must be ${formatRange(limits.clip_sides)} pixels.`;
  }
  if (!isWithin(limits.clip_short_side, Math.min(width, height))) {
    return `The clip is ${width}x${height}; ${id} continues clips with a shorter side of ${formatRange(limits.clip_short_side)} pixels.`;
  }
  if (!isWithin(limits.clip_seconds, seconds, FRAME_S)) {
    return `The clip is ${seconds.toFixed(1)} s long; ${id} continues clips of ${formatRange(limits.clip_seconds)} s.`;
  }
  return undefined;
}

/** Formats an inclusive range: `2 to 15`, `at most 720`. */
export function formatRange({ minimum, maximum }: Range = {}): string {
  if (minimum === undefined) return `at most ${maximum}`;
  return maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`;
}

/** @param slack tolerance at both ends. An unknown duration (NaN) is within every range. */
function isWithin({ minimum = 0, maximum = Infinity }: Range = {}, value: number, slack = 0): boolean {
  return !Number.isFinite(value) || (value >= minimum - slack && value <= maximum + slack);
}
