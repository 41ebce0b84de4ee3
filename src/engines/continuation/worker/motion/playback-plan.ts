/**
 * Which moment of the clip each new frame shows. Moments are frames of the clip, the last one is 0, earlier ones are
 * negative and may lie between two frames; those above 0 are later than anything that the clip shows.
 */

/** A new frame: one moment, or two that are mixed. */
export interface Shown {
  readonly moment: number;
  /** Mixed over it with {@link share}. */
  readonly other: number;
  /** 0–1. */
  readonly share: number;
}

export interface Swing {
  /** Shown first: at most one frame after the last. */
  readonly start: number;
  /** The earliest moment that may be shown, a whole number, at most 0. */
  readonly earliest: number;
  /** Frames in which motion comes to rest, an even number. */
  readonly ramp: number;
  /** Frames that a way from one end to the other takes at least, a whole number. */
  readonly leastWay: number;
}

/**
 * A pendulum: goes on as the clip does, comes to rest half a ramp later, goes back to the earliest moment, and so on.
 * Never faster than the clip, and never changing its speed at once. It turns at whole moments, so that between the
 * ramps it shows frames of the clip as they are.
 */
export function swing(frames: number, { start, earliest, ramp, leastWay }: Swing): Shown[] {
  const latest = Math.ceil(start + ramp / 2);
  const first = 2 * (latest - start);
  const width = latest - earliest;
  const way = Math.max(width + ramp, leastWay);
  const speed = width / (way - ramp);
  const shown: Shown[] = [];
  for (let frame = 0; frame < frames; frame++) {
    let moment = start + slowing(Math.min(frame, first), first);
    if (frame > first) {
      const since = frame - Math.ceil(first);
      const gone = speed * progress(since % way, way, ramp);
      moment = Math.floor(since / way) % 2 === 0 ? latest - gone : earliest + gone;
    }
    shown.push({ moment, other: moment, share: 0 });
  }
  return shown;
}

export interface Loop {
  readonly start: number;
  /** What looks as 0 does, below 0: after the last frame comes the one after it. */
  readonly twin: number;
  /** Frames in which what would come after the last frame is faded over to what came after its twin. */
  readonly fade: number;
}

/** Forward always: from the last frame to what followed its twin, again and again. */
export function loop(frames: number, { start, twin, fade }: Loop): Shown[] {
  const shown: Shown[] = [];
  for (let frame = 0; frame < frames; frame++) {
    // The first frame of each round is the one after the twin.
    const since = frame % -twin;
    const later = frame < fade ? start + frame : 1 + since;
    const share = ease(Math.min(1, (since + 1) / (fade + 1)));
    const moment = twin + 1 + since;
    shown.push(share < 1 ? { moment: later, other: moment, share } : { moment, other: moment, share: 0 });
  }
  return shown;
}

/** Way of a full frame a frame that slows to none within `ramp` frames. */
function slowing(frame: number, ramp: number): number {
  if (ramp === 0) return 0;
  return frame / 2 + (ramp / (2 * Math.PI)) * Math.sin((Math.PI * frame) / ramp);
}

/** Way after `frame` frames at full speed 1, from rest to rest in `way` frames. */
function progress(frame: number, way: number, ramp: number): number {
  const whole = way - ramp;
  if (frame < ramp) return frame - slowing(frame, ramp);
  if (frame <= whole) return frame - ramp / 2;
  return whole - ramp / 2 + slowing(frame - whole, ramp);
}

/** From 0 to 1 without a corner. */
export function ease(share: number): number {
  return share * share * (3 - 2 * share);
}
