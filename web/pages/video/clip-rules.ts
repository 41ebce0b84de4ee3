/**
 * What each model continues (plugins/video/README.md), so that a clip that cannot be used is told before it is sent.
 * The service alone decides. Pure.
 */

interface SecondsRange {
  readonly minimum: number;
  readonly maximum: number;
}

export interface ModelWindow {
  /** Length of the new segment. */
  readonly segmentS: SecondsRange;
  /** Length of the clip. */
  readonly clipS: SecondsRange;
  /** Shorter side of the largest clip, in pixels; undefined: any. */
  readonly mostClip: number | undefined;
}

const SHORT = { segmentS: { minimum: 4, maximum: 15 }, clipS: { minimum: 2, maximum: 15 } };
const WINDOWS: Readonly<Record<string, ModelWindow>> = {
  'vid-2.0-mini': { ...SHORT, mostClip: 720 },
  'vid-2.0-fast': { ...SHORT, mostClip: 720 },
  'vid-2.5': { segmentS: { minimum: 4, maximum: 30 }, clipS: { minimum: 2, maximum: 30 }, mostClip: 1080 },
};

/** The window of a model; one that is not known has that of `vid-2.0`. */
export function windowOf(model: string): ModelWindow {
  return WINDOWS[model] ?? { ...SHORT, mostClip: undefined };
}

const MOST_BYTES = 209_715_200;
const SIDES = { minimum: 300, maximum: 6000 };
/** About one frame, by which clips may be longer or shorter. */
const FRAME_S = 1 / 24;

/** A clip as a browser sees it. */
export interface LocalClip {
  readonly bytes: number;
  /** Absent where the browser cannot read it; the service may. */
  readonly picture?: { readonly width: number; readonly height: number; readonly seconds: number };
}

/** What the service would refuse in a clip for a model; undefined: nothing that can be seen from here. */
export function clipHint({ bytes, picture }: LocalClip, model: string): string | undefined {
  if (bytes > MOST_BYTES) return `The file has ${bytes} bytes; the service takes at most ${MOST_BYTES}.`;
  if (picture === undefined) return undefined;
  const { clipS, mostClip } = windowOf(model);
  const { width, height, seconds } = picture;
  const sides = [width, height];
  if (sides.some((side) => side < SIDES.minimum || side > SIDES.maximum)) {
    return `The clip is ${width}x${height}; its sides must be of ${SIDES.minimum} to ${SIDES.maximum} pixels.`;
  }
  if (mostClip !== undefined && Math.min(...sides) > mostClip) {
    return `The clip is ${width}x${height}; ${model} continues clips whose shorter side is at most ${mostClip} pixels.`;
  }
  if (seconds < clipS.minimum - FRAME_S || seconds > clipS.maximum + FRAME_S) {
    return `The clip is ${seconds.toFixed(1)} s long; ${model} continues clips of ${shownRange(clipS)}.`;
  }
  return undefined;
}

export function shownRange({ minimum, maximum }: SecondsRange): string {
  return `${minimum} to ${maximum} s`;
}
