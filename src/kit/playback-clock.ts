/** Who plays audio from its first run on, as it comes. Times are monotonic, in ms. */
export class PlaybackClock {
  /** When all that came will have been heard; undefined before the first. */
  #endMs: number | undefined;

  /** @param endMs of audio that came before. */
  constructor(endMs?: number) {
    this.#endMs = endMs;
  }

  /** Audio that is still to be heard; undefined before the first. */
  aheadMs(nowMs: number): number | undefined {
    return this.#endMs === undefined ? undefined : Math.max(0, this.#endMs - nowMs);
  }

  /**
   * Audio came.
   * @param askedMs since when it was waited for: who asks late has a reason, and hears no gap of ours.
   * @returns how long nothing was heard before it, in ms: an underrun.
   */
  addAudio(lengthMs: number, nowMs: number, askedMs = nowMs): number {
    const endMs = this.#endMs ?? nowMs;
    this.#endMs = Math.max(endMs, nowMs) + lengthMs;
    return Math.max(0, nowMs - Math.max(endMs, askedMs));
  }
}
