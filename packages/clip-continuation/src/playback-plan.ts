/**
 * Plans which moment of the clip each new frame shows. A moment is a position in frames relative to the last frame of the
 * clip: 0 is the last frame, negative values are earlier, fractions lie between two frames, and positive values are
 * extrapolated.
 */

/** A new frame: one moment, or a blend of two. */
export interface FrameBlend {
  readonly moment: number;
  /** Blended over `moment` with the weight {@link share}. */
  readonly other: number;
  /** Weight of `other`, 0–1. */
  readonly share: number;
}

export interface Swing {
  /** Moment of the first new frame, 0 to 1. */
  readonly start: number;
  /** The earliest moment that may be plan, an integer, at most 0. */
  readonly earliest: number;
  /** Number of frames in which the motion stops; even. */
  readonly ramp: number;
  /** Minimum number of frames from one end to the other; an integer. */
  readonly minTravel: number;
}

/**
 * Plays back and forth: continues at the speed of the clip, stops after half a ramp, plays backwards to the earliest
 * moment, and repeats. It is never faster than the clip, and its speed changes gradually. It turns at integer moments, so
 * that it shows unmodified frames of the clip between the ramps.
 */
export function swing(frames: number, { start, earliest, ramp, minTravel }: Swing): FrameBlend[] {
  const latest = Math.ceil(start + ramp / 2);
  const firstRamp = 2 * (latest - start);
  const width = latest - earliest;
  const travel = Math.max(width + ramp, minTravel);
  const speed = width / (travel - ramp);
  const plan: FrameBlend[] = [];
  for (let frame = 0; frame < frames; frame++) {
    let moment = start + decelerate(Math.min(frame, firstRamp), firstRamp);
    if (frame > firstRamp) {
      const elapsed = frame - Math.ceil(firstRamp);
      const distance = speed * travelProgress(elapsed % travel, travel, ramp);
      moment = Math.floor(elapsed / travel) % 2 === 0 ? latest - distance : earliest + distance;
    }
    plan.push({ moment, other: moment, share: 0 });
  }
  return plan;
}

export interface LoopPlan {
  /** Moment of the first new frame, 0 to 1. */
  readonly start: number;
  /** Negative moment that looks like moment 0: the loop continues with the frame after it. */
  readonly loopPoint: number;
  /** Number of frames of the cross-fade from the extrapolated motion to the frames after the loop point. */
  readonly fade: number;
}

/** Plays forward from the frame after the loop point to the last frame, repeatedly. */
export function loop(frames: number, { start, loopPoint, fade }: LoopPlan): FrameBlend[] {
  const plan: FrameBlend[] = [];
  for (let frame = 0; frame < frames; frame++) {
    // Each round starts with the frame after the loop point.
    const elapsed = frame % -loopPoint;
    const base = frame < fade ? start + frame : 1 + elapsed;
    const share = ease(Math.min(1, (elapsed + 1) / (fade + 1)));
    const moment = loopPoint + 1 + elapsed;
    plan.push(share < 1 ? { moment: base, other: moment, share } : { moment, other: moment, share: 0 });
  }
  return plan;
}

/** Distance after `frame` frames of a motion that decelerates from speed 1 to 0 within `ramp` frames. */
function decelerate(frame: number, ramp: number): number {
  if (ramp === 0) return 0;
  return frame / 2 + (ramp / (2 * Math.PI)) * Math.sin((Math.PI * frame) / ramp);
}

/** Distance after `frame` frames of a motion from rest to rest in `travel` frames, with a maximum speed of 1. */
function travelProgress(frame: number, travel: number, ramp: number): number {
  const cruiseEnd = travel - ramp;
  if (frame < ramp) return frame - decelerate(frame, ramp);
  if (frame <= cruiseEnd) return frame - ramp / 2;
  return cruiseEnd - ramp / 2 + decelerate(frame - cruiseEnd, ramp);
}

/** Smoothstep from 0 to 1. */
export function ease(share: number): number {
  return share * share * (3 - 2 * share);
}
