import type { Samples } from '../pcm.ts';

/** A marked range in ms from the start of the sound; the end of an open mark is Infinity. */
export interface Mark {
  readonly startMs: number;
  readonly endMs: number;
}

/** Duration of a bar in ms. */
export const BAR_MS = 40;
/** Maximum number of retained bars: more than a screen is wide. */
const MAX_BARS = 2000;

/**
 * Loudness history of a sound in bars of {@link BAR_MS}, limited to the newest, with marked ranges. Notifies
 * subscribers of every change.
 */
export class LoudnessTrack {
  #bars: number[] = [];
  #before = 0;
  #marks: Mark[] = [];
  /** The incomplete bar: its peak and its number of samples. */
  #peak = 0;
  #filled = 0;
  #listeners = new Set<() => void>();

  /** Peak of each bar, from 0 to 1, newest last. */
  get bars(): readonly number[] {
    return this.#bars;
  }

  /** Number of bars that were dropped. */
  get before(): number {
    return this.#before;
  }

  get marks(): readonly Mark[] {
    return this.#marks;
  }

  /** Duration of the sound in ms, rounded down to whole bars. */
  get lengthMs(): number {
    return (this.#before + this.#bars.length) * BAR_MS;
  }

  /** Peak of the newest bar; 0 if there is none. */
  get level(): number {
    return this.#bars.at(-1) ?? 0;
  }

  add(samples: Samples, rateHz: number): void {
    const step = Math.round((rateHz * BAR_MS) / 1000);
    for (const sample of samples) {
      this.#peak = Math.max(this.#peak, Math.abs(sample));
      this.#filled += 1;
      if (this.#filled < step) continue;
      this.#bars.push(this.#peak / 0x8000);
      this.#peak = 0;
      this.#filled = 0;
    }
    const over = this.#bars.length - MAX_BARS;
    if (over > 0) {
      this.#bars.splice(0, over);
      this.#before += over;
      this.#marks = this.#marks.filter(({ endMs }) => endMs > this.#before * BAR_MS);
    }
    this.#tell();
  }

  /** Starts a mark that lasts until {@link endMark}. An open mark ends at its start. */
  startMark(startMs: number): void {
    this.endMark(startMs);
    this.#marks.push({ startMs, endMs: Number.POSITIVE_INFINITY });
    this.#tell();
  }

  endMark(endMs: number): void {
    const open = this.#marks.at(-1);
    if (open?.endMs !== Number.POSITIVE_INFINITY) return;
    this.#marks[this.#marks.length - 1] = { ...open, endMs };
    this.#tell();
  }

  clear(): void {
    this.#bars = [];
    this.#before = 0;
    this.#marks = [];
    this.#peak = 0;
    this.#filled = 0;
    this.#tell();
  }

  /** @returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Level that is displayed as zero height. */
const FLOOR_DB = -60;

/** Display height, from 0 to 1, of a peak from 0 to 1: linear in decibels over 60 dB. */
export function heightOf(loudness: number): number {
  return Math.max(0, 1 - (20 * Math.log10(Math.max(loudness, 1e-9))) / FLOOR_DB);
}
