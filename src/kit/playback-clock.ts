/** Models a client's playback clock (for lead time and underruns). Times are monotonic, in ms. */
export class PlaybackClock {
  /** Time at which all received audio has been played; undefined before the first audio. */
  #endMs: number | undefined;

  /** @param endMs end of the playback of earlier audio. */
  constructor(endMs?: number) {
    this.#endMs = endMs;
  }

  /** Returns the buffered audio in ms; undefined before the first audio. */
  aheadMs(nowMs: number): number | undefined {
    return this.#endMs === undefined ? undefined : Math.max(0, this.#endMs - nowMs);
  }

  /**
   * Adds received audio.
   * @param requestedMs time since which the client has waited for it: a late request does not count as an
   *   underrun.
   * @returns the length of the underrun before the audio, in ms.
   */
  addAudio(lengthMs: number, nowMs: number, requestedMs = nowMs): number {
    const endMs = this.#endMs ?? nowMs;
    this.#endMs = Math.max(endMs, nowMs) + lengthMs;
    return Math.max(0, nowMs - Math.max(endMs, requestedMs));
  }
}
