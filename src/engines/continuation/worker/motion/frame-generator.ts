/**
 * New frames after a clip's last, from its last frames alone. Where the clip has shown something that looks and moves as
 * its end does, it goes on from there, forward, in a loop. Else motion goes on as it was, comes to rest, and swings
 * back through what was shown. Every frame is made of real ones, at most two, so that no blur adds up.
 */

import { denseFlow, type Flow } from './dense-flow.ts';
import { type Luma, pyramid, shrunk } from './luma.ts';
import { displacementsBack, type Motion, motionOf, wholeSpeed } from './motion-model.ts';
import { ease, loop, type Shown, swing } from './playhead.ts';
import { similarityIndex } from './similarity-index.ts';
import { twinOfEnd, wholeFrom } from './tail.ts';
import { emptyField, FieldSampler, type VectorField } from './vector-field.ts';
import { mix, type PictureSize, warp } from './warp.ts';

/** Longer side of the pictures that motion is measured on, at most. */
const MEASURED_SIDE = 480;
/** How far a motion may go on beyond what was seen, as a share of the longer side. */
const REACH = 0.04;
/** Level of a pyramid that tells cuts and fades. */
const COARSE_LEVEL = 2;
/** Frames before the last by which the end's motion is measured. */
const PAIRS = [1, 2, 3];
/** The first new frame is at least so alike to the last of the clip. */
const FIRST_ALIKE = 0.98;
/** How far the first new frame may be from the last of the clip, in frames; the farthest that is alike. */
const FIRST_STEPS = [1, 0.5, 0.25];
const SHORTEST_RAMP = 4;
const RAMP_S = 1;
const LEAST_WAY_S = 1.5;
const MIN_LOOP_S = 0.75;
const FADE_S = 0.2;
/** Moments so near to a frame are that frame. */
const NEAR = 0.03;
const BACK_STEPS = 2;

export class FrameMaker {
  readonly #size: PictureSize;
  readonly #factor: number;
  /** Those of one piece with the last. */
  readonly #frames: readonly Uint8Array[];
  readonly #pyramids: readonly (readonly Luma[])[];
  readonly #velocities = new Map<number, Flow>();
  readonly #motion: Motion | undefined;
  readonly #back: VectorField;
  readonly #ahead: Uint8Array;
  readonly #second: Uint8Array;
  readonly #fps: number;
  readonly #start: number;
  /** How it goes on. */
  readonly manner: 'loop' | 'swing' | 'still';
  readonly #twin: number;

  /** @param tail the last frames of a clip as I420, oldest first, at least one; they are kept, not changed. */
  constructor(tail: readonly Uint8Array[], size: PictureSize, fps: number) {
    this.#size = size;
    this.#fps = fps;
    this.#factor = Math.max(1, Math.ceil(Math.max(size.width, size.height) / MEASURED_SIDE));
    const measured = tail.map((frame) => pyramid(shrunk(frame, size.width, size.height, this.#factor)));
    const first = wholeFrom(
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
    this.#twin = twinOfEnd(coarse, Math.ceil(MIN_LOOP_S * fps)) ?? 0;
    this.manner = motion === undefined ? 'still' : this.#twin < 0 ? 'loop' : 'swing';
    this.#start = this.#firstStep();
  }

  /** What each of so many new frames shows. */
  plan(frames: number): Shown[] {
    const still = { moment: 0, other: 0, share: 0 };
    if (this.#motion === undefined) return new Array<Shown>(frames).fill(still);
    const start = this.#start;
    if (this.manner === 'loop') {
      const fade = Math.min(Math.round(FADE_S * this.#fps), Math.floor(-this.#twin / 2));
      return loop(frames, { start, twin: this.#twin, fade });
    }
    const ramp = this.#ramp(this.#motion);
    const leastWay = Math.max(Math.round(LEAST_WAY_S * this.#fps), 2 * ramp);
    return swing(frames, { start, earliest: 1 - this.#frames.length, ramp, leastWay });
  }

  /** Makes a frame. @param into is overwritten. */
  make({ moment, other, share }: Shown, into: Uint8Array): void {
    this.#show(moment, into);
    if (share === 0) return;
    this.#show(other, this.#second);
    mix(into, this.#second, share);
  }

  #show(moment: number, into: Uint8Array): void {
    const last = this.#frames.length - 1;
    const place = last + moment;
    const before = Math.min(last, Math.floor(place));
    const fraction = place - before;
    if (fraction < NEAR || this.#motion === undefined) {
      into.set(this.#frames[before] as Uint8Array);
      return;
    }
    if (before === last) {
      displacementsBack(this.#motion, fraction, this.#back);
      warp(this.#frames[last] as Uint8Array, this.#size, this.#back, into);
      return;
    }
    if (fraction > 1 - NEAR) {
      into.set(this.#frames[before + 1] as Uint8Array);
      return;
    }
    this.#between(before, fraction, into);
  }

  /** Between two frames: for the most part the nearer one, moved. */
  #between(before: number, fraction: number, into: Uint8Array): void {
    const velocity = this.#velocityTo(before + 1);
    const share = ease(Math.min(1, Math.max(0, (fraction - 0.4) / 0.2)));
    const ahead = share === 1 ? into : this.#ahead;
    if (share < 1) {
      this.#alongVelocity(velocity, fraction, -fraction);
      warp(this.#frames[before] as Uint8Array, this.#size, this.#back, into);
    }
    if (share === 0) return;
    this.#alongVelocity(velocity, fraction, 1 - fraction);
    warp(this.#frames[before + 1] as Uint8Array, this.#size, this.#back, ahead);
    if (share < 1) mix(into, ahead, share);
  }

  /** Fills the displacements: each place of the moment, moved on by its own velocity for `frames`. */
  #alongVelocity(velocity: VectorField, fraction: number, frames: number): void {
    const { grid, x: backX, y: backY } = this.#back;
    const sampler = new FieldSampler(velocity);
    for (let node = 0; node < backX.length; node++) {
      const x = grid.origin + grid.step * (node % grid.columns);
      const y = grid.origin + grid.step * Math.floor(node / grid.columns);
      sampler.at(x, y);
      // Velocities are known where things are in the later frame.
      for (let step = 0; step < BACK_STEPS; step++) {
        sampler.at(x + (1 - fraction) * sampler.x, y + (1 - fraction) * sampler.y);
      }
      backX[node] = frames * sampler.x;
      backY[node] = frames * sampler.y;
    }
  }

  /** Velocities into a frame from the one before it, at the places of the later one. */
  #velocityTo(frame: number): Flow {
    const known = this.#velocities.get(frame);
    if (known) return known;
    const velocity = this.#velocityOver(frame, 1);
    this.#velocities.set(frame, velocity);
    return velocity;
  }

  #velocityOver(frame: number, frames: number): Flow {
    const now = this.#pyramids[frame] as readonly Luma[];
    const earlier = this.#pyramids[frame - frames] as readonly Luma[];
    const back = denseFlow(now, earlier, this.#factor);
    for (const part of [back.x, back.y]) {
      for (let node = 0; node < part.length; node++) part[node] = -(part[node] as number) / frames;
    }
    return back;
  }

  /** The middle of what several pairs of frames say. Undefined when there is one frame. */
  #motionAtEnd(): Motion | undefined {
    const last = this.#frames.length - 1;
    const flows = PAIRS.filter((frames) => frames <= last).map((frames) => this.#velocityOver(last, frames));
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
    return motionOf(first, this.#size.width, this.#size.height);
  }

  /** Frames in which motion comes to rest: long for slow motion, so that it goes about as far as fast one. */
  #ramp({ whole, local }: Motion): number {
    const parts = local.x.map((x, node) => Math.hypot(x, local.y[node] as number)).sort();
    const fastest = Math.max(wholeSpeed(whole), parts[Math.floor(parts.length * 0.95)] ?? 0);
    const reach = REACH * Math.max(this.#size.width, this.#size.height);
    const frames = Math.min(RAMP_S * this.#fps, (2 * reach) / Math.max(fastest, 1e-3));
    return Math.max(SHORTEST_RAMP, 2 * Math.round(frames / 2));
  }

  #firstStep(): number {
    const { width, height } = this.#size;
    const last = this.#frames.at(-1) as Uint8Array;
    for (const step of this.#motion ? FIRST_STEPS : []) {
      this.#show(step, this.#second);
      if (similarityIndex(last, this.#second, width, height) >= FIRST_ALIKE) return step;
    }
    return 0;
  }
}
