/**
 * Generates the frames after a clip from its last frames. If the clip contains a moment that matches its end in appearance
 * and motion, playback loops from there. Otherwise the motion continues, slows down and plays backwards. Every new frame
 * is made of at most two original frames, so that blur does not accumulate.
 */

import { denseFlow, type Flow } from './dense-flow.ts';
import { downscale, type Luma, pyramid } from './luma.ts';
import { backwardDisplacements, type Motion, maxCameraSpeed, separateMotion } from './motion-model.ts';
import { ease, type FrameBlend, loop, swing } from './playback-plan.ts';
import { structuralSimilarity } from './structural-similarity.ts';
import { continuousStart, findLoopPoint } from './tail-analysis.ts';
import { emptyField, FieldSampler, type VectorField } from './vector-field.ts';
import { blend, type PictureSize, type Warp } from './warp.ts';

/** Maximum length of the longer side of the pictures on which motion is measured. */
const MAX_MEASURED_SIDE = 480;
/** Maximum extrapolated distance, as a fraction of the longer side. */
const MAX_REACH = 0.04;
/** Pyramid level on which cuts and fades are detected. */
const COARSE_LEVEL = 2;
/** Distances in frames over which the motion at the end is measured. */
const MOTION_DISTANCES = [1, 2, 3];
/** Minimum SSIM of the first new frame and the last frame of the clip. */
const MIN_FIRST_SSIM = 0.98;
/** Candidates for the moment of the first new frame. The first one that is similar enough is used. */
const FIRST_STEPS = [1, 0.5, 0.25];
const MIN_RAMP = 4;
const RAMP_S = 1;
const MIN_TRAVEL_S = 1.5;
const MIN_LOOP_S = 0.75;
const FADE_S = 0.2;
/** Moments within this distance of a frame show that frame without a warp. */
const SNAP_DISTANCE = 0.03;
/** Fixed-point iterations that map velocities to the positions of an intermediate moment. */
const INVERSION_STEPS = 2;

export class FrameGenerator {
  readonly #size: PictureSize;
  readonly #warp: Warp;
  readonly #factor: number;
  /** The frames of the tail after the last cut or fade. */
  readonly #frames: readonly Uint8Array[];
  readonly #pyramids: readonly (readonly Luma[])[];
  readonly #velocities = new Map<number, Flow>();
  readonly #motion: Motion | undefined;
  readonly #back: VectorField;
  readonly #ahead: Uint8Array;
  readonly #second: Uint8Array;
  readonly #fps: number;
  readonly #start: number;
  /** How the clip continues: it loops, plays backwards and forwards, or repeats its last frame. */
  readonly mode: 'loop' | 'swing' | 'still';
  readonly #loopPoint: number;

  /** @param tail the last frames of a clip as I420, oldest first, at least one. They are referenced, not copied or modified. */
  constructor(tail: readonly Uint8Array[], size: PictureSize, fps: number, warp: Warp) {
    this.#size = size;
    this.#warp = warp;
    this.#fps = fps;
    this.#factor = Math.max(1, Math.ceil(Math.max(size.width, size.height) / MAX_MEASURED_SIDE));
    const measured = tail.map((frame) => pyramid(downscale(frame, size.width, size.height, this.#factor)));
    const first = continuousStart(
      measured.map((levels) => levels.slice(Math.min(COARSE_LEVEL, levels.length - 1))),
    );
    this.#frames = tail.slice(first);
    this.#pyramids = measured.slice(first);
    this.#ahead = new Uint8Array(tail[0]?.length ?? 0);
    this.#second = new Uint8Array(tail[0]?.length ?? 0);
    const motion = this.#motionAtEnd();
    this.#motion = motion;
    this.#back = emptyField(motion ? motion.local.grid : { columns: 2, rows: 2, origin: 0, step: 1 });
    const coarse = this.#pyramids.map((levels) => levels[Math.min(1, levels.length - 1)] as Luma);
    this.#loopPoint = findLoopPoint(coarse, Math.ceil(MIN_LOOP_S * fps)) ?? 0;
    this.mode = motion === undefined ? 'still' : this.#loopPoint < 0 ? 'loop' : 'swing';
    this.#start = this.#chooseFirstStep();
  }

  /** Plans the given number of frames. */
  planFrames(frames: number): FrameBlend[] {
    const still = { moment: 0, other: 0, share: 0 };
    if (this.#motion === undefined) return new Array<FrameBlend>(frames).fill(still);
    const start = this.#start;
    if (this.mode === 'loop') {
      const fade = Math.min(Math.round(FADE_S * this.#fps), Math.floor(-this.#loopPoint / 2));
      return loop(frames, { start, loopPoint: this.#loopPoint, fade });
    }
    const ramp = this.#rampFrames(this.#motion);
    const minTravel = Math.max(Math.round(MIN_TRAVEL_S * this.#fps), 2 * ramp);
    return swing(frames, { start, earliest: 1 - this.#frames.length, ramp, minTravel });
  }

  /** Renders a planned frame. @param into I420 buffer, which is overwritten. */
  renderFrame({ moment, other, share }: FrameBlend, into: Uint8Array): void {
    this.#renderMoment(moment, into);
    if (share === 0) return;
    this.#renderMoment(other, this.#second);
    blend(into, this.#second, share);
  }

  #renderMoment(moment: number, into: Uint8Array): void {
    const last = this.#frames.length - 1;
    const position = last + moment;
    const before = Math.min(last, Math.floor(position));
    const fraction = position - before;
    if (fraction < SNAP_DISTANCE || this.#motion === undefined) {
      into.set(this.#frames[before] as Uint8Array);
      return;
    }
    if (before === last) {
      backwardDisplacements(this.#motion, fraction, this.#back);
      this.#warp(this.#frames[last] as Uint8Array, this.#size, this.#back, into);
      return;
    }
    if (fraction > 1 - SNAP_DISTANCE) {
      into.set(this.#frames[before + 1] as Uint8Array);
      return;
    }
    this.#renderBetween(before, fraction, into);
  }

  /** Renders a moment between two frames: the nearer frame warped, or a blend of both near the middle. */
  #renderBetween(before: number, fraction: number, into: Uint8Array): void {
    const velocity = this.#velocityTo(before + 1);
    const share = ease(Math.min(1, Math.max(0, (fraction - 0.4) / 0.2)));
    const ahead = share === 1 ? into : this.#ahead;
    if (share < 1) {
      this.#setDisplacements(velocity, fraction, -fraction);
      this.#warp(this.#frames[before] as Uint8Array, this.#size, this.#back, into);
    }
    if (share === 0) return;
    this.#setDisplacements(velocity, fraction, 1 - fraction);
    this.#warp(this.#frames[before + 1] as Uint8Array, this.#size, this.#back, ahead);
    if (share < 1) blend(into, ahead, share);
  }

  /** Sets the displacements to the velocity at each position of the moment, multiplied by `frames`. */
  #setDisplacements(velocity: VectorField, fraction: number, frames: number): void {
    const { grid, x: backX, y: backY } = this.#back;
    const sampler = new FieldSampler(velocity);
    for (let node = 0; node < backX.length; node++) {
      const x = grid.origin + grid.step * (node % grid.columns);
      const y = grid.origin + grid.step * Math.floor(node / grid.columns);
      sampler.sample(x, y);
      // The velocities are known at the positions of the later frame.
      for (let step = 0; step < INVERSION_STEPS; step++) {
        sampler.sample(x + (1 - fraction) * sampler.x, y + (1 - fraction) * sampler.y);
      }
      backX[node] = frames * sampler.x;
      backY[node] = frames * sampler.y;
    }
  }

  /** Velocities from the previous frame to a frame, at the positions of the latter. */
  #velocityTo(frame: number): Flow {
    const cached = this.#velocities.get(frame);
    if (cached) return cached;
    const velocity = this.#velocityOver(frame, 1);
    this.#velocities.set(frame, velocity);
    return velocity;
  }

  #velocityOver(frame: number, frames: number): Flow {
    const now = this.#pyramids[frame] as readonly Luma[];
    const earlier = this.#pyramids[frame - frames] as readonly Luma[];
    const back = denseFlow(now, earlier, this.#factor);
    for (const axis of [back.x, back.y]) {
      for (let node = 0; node < axis.length; node++) axis[node] = -(axis[node] as number) / frames;
    }
    return back;
  }

  /** Median of the motion over several distances; undefined if there is only one frame. */
  #motionAtEnd(): Motion | undefined {
    const last = this.#frames.length - 1;
    const flows = MOTION_DISTANCES.filter((frames) => frames <= last).map((frames) =>
      this.#velocityOver(last, frames),
    );
    const [first, second, third] = flows;
    if (first === undefined) return undefined;
    if (second !== undefined && third !== undefined) {
      for (const axis of ['x', 'y'] as const) {
        for (let node = 0; node < first.x.length; node++) {
          const a = first[axis][node] as number;
          const b = second[axis][node] as number;
          const c = third[axis][node] as number;
          first[axis][node] = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
        }
      }
    }
    return separateMotion(first, this.#size.width, this.#size.height);
  }

  /** Number of frames in which the motion stops: more for slow motion, so that the distance is similar. */
  #rampFrames({ camera, local }: Motion): number {
    const speeds = local.x.map((x, node) => Math.hypot(x, local.y[node] as number)).sort();
    const fastest = Math.max(maxCameraSpeed(camera), speeds[Math.floor(speeds.length * 0.95)] ?? 0);
    const reach = MAX_REACH * Math.max(this.#size.width, this.#size.height);
    const frames = Math.min(RAMP_S * this.#fps, (2 * reach) / Math.max(fastest, 1e-3));
    return Math.max(MIN_RAMP, 2 * Math.round(frames / 2));
  }

  #chooseFirstStep(): number {
    const { width, height } = this.#size;
    const last = this.#frames.at(-1) as Uint8Array;
    for (const step of this.#motion ? FIRST_STEPS : []) {
      this.#renderMoment(step, this.#second);
      if (structuralSimilarity(last, this.#second, width, height) >= MIN_FIRST_SSIM) return step;
    }
    return 0;
  }
}
