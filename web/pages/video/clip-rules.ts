/**
 * What a model continues, as `GET /v1/models` tells, so that a clip that cannot be used is told before it is sent. The
 * service alone decides. Pure.
 */

export interface Range {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A model as the service lists it. */
export interface VideoModel {
  readonly id: string;
  readonly limits?: {
    /** Length of the new segment. */
    readonly seconds?: Range;
    readonly clip_seconds?: Range;
    /** Of either side, in pixels. */
    readonly clip_sides?: Range;
    readonly clip_short_side?: Range;
    readonly clip_bytes?: Range;
  };
}

/** About one frame, by which clips may be longer or shorter. */
const FRAME_S = 1 / 24;

/** A clip as a browser sees it. */
export interface LocalClip {
  readonly bytes: number;
  /** Absent where the browser cannot read it; the service may. */
  readonly picture?: { readonly width: number; readonly height: number; readonly seconds: number };
}

/** What the service would refuse in a clip for a model; undefined: nothing that can be seen from here. */
export function clipHint({ bytes, picture }: LocalClip, { id, limits = {} }: VideoModel): string | undefined {
  if (!isWithin(limits.clip_bytes, bytes)) {
    return `The file has ${bytes} bytes; the service takes ${shownRange(limits.clip_bytes)}.`;
  }
  if (picture === undefined) return undefined;
  const { width, height, seconds } = picture;
  if (!isWithin(limits.clip_sides, width) || !isWithin(limits.clip_sides, height)) {
    return `The clip is ${width}x${height}; its sides must be of ${shownRange(limits.clip_sides)} pixels.`;
  }
  if (!isWithin(limits.clip_short_side, Math.min(width, height))) {
    return `The clip is ${width}x${height}; ${id} continues clips with a shorter side of ${shownRange(limits.clip_short_side)} pixels.`;
  }
  if (!isWithin(limits.clip_seconds, seconds, FRAME_S)) {
    return `The clip is ${seconds.toFixed(1)} s long; ${id} continues clips of ${shownRange(limits.clip_seconds)} s.`;
  }
  return undefined;
}

/** `2 to 15`, `at most 720`; both ends are allowed. */
export function shownRange({ minimum, maximum }: Range = {}): string {
  if (minimum === undefined) return `at most ${maximum}`;
  return maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`;
}

/** @param slack by which a value may be outside. A length that the browser does not know is in no range's way. */
function isWithin({ minimum = 0, maximum = Infinity }: Range = {}, value: number, slack = 0): boolean {
  return !Number.isFinite(value) || (value >= minimum - slack && value <= maximum + slack);
}
