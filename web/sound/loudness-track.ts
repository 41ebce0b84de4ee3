import type { Samples } from './pcm.ts';

/** A stretch of the sound that somebody marked, in ms from its beginning; one that goes on ends at Infinity. */
export interface Mark {
  readonly startMs: number;
  readonly endMs: number;
}

/** The length of a bar. */
export const BAR_MS = 40;
/** Bars that are kept: more than any screen has room for. */
const MAX_BARS = 2000;

/**
 * How loud a sound is as it comes, in bars of {@link BAR_MS}, of which the newest are kept, and what of it is marked.
 * Tells whoever listens of every change.
 */
export class LoudnessTrack {
  #bars: number[] = [];
  #before = 0;
  #marks: Mark[] = [];
  /** The bar that is not full: its loudest sample, and the samples it has. */
  #peak = 0;
  #filled = 0;
  #listeners = new Set<() => void>();

  /** The loudest sample of each bar, from 0 to 1, the newest last. */
  get bars(): readonly number[] {
    return this.#bars;
  }

  /** Bars that came before those that are kept. */
  get before(): number {
    return this.#before;
  }

  get marks(): readonly Mark[] {
    return this.#marks;
  }

  /** Sound that was taken, in ms, without a last part that fills no bar. */
  get lengthMs(): number {
    return (this.#before + this.#bars.length) * BAR_MS;
  }

  /** The newest bar, or silence. */
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

  /** A mark that goes on until {@link end}. One that is open ends there. */
  begin(startMs: number): void {
    this.end(startMs);
    this.#marks.push({ startMs, endMs: Number.POSITIVE_INFINITY });
    this.#tell();
  }

  end(endMs: number): void {
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

  /** @returns what ends it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The quietest sound that is shown. */
const FLOOR_DB = -60;

/** Height of a loudness from 0 to 1 in a picture, from 0 to 1: the ear hears ratios, so 60 dB share it. */
export function heightOf(loudness: number): number {
  return Math.max(0, 1 - (20 * Math.log10(Math.max(loudness, 1e-9))) / FLOOR_DB);
}
