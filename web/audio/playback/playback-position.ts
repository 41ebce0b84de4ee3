/** A scheduled chunk, in seconds of the audio clock. */
interface ScheduledChunk {
  readonly startS: number;
  readonly endS: number;
}

/** Duration of the audio that was played, from the times at which its chunks are scheduled. Pure; chunks do not overlap. */
export class PlaybackPosition {
  #chunks: ScheduledChunk[] = [];
  /** Duration of the chunks that are completely played. */
  #endedS = 0;

  add(startS: number, endS: number): void {
    this.#chunks.push({ startS, endS });
  }

  /** Returns the seconds of audio that are played at a time of the audio clock, which must not decrease. */
  playedS(nowS: number): number {
    let [first] = this.#chunks;
    while (first !== undefined && first.endS <= nowS) {
      this.#endedS += first.endS - first.startS;
      this.#chunks.shift();
      [first] = this.#chunks;
    }
    return this.#endedS + (first === undefined ? 0 : Math.max(0, nowS - first.startS));
  }

  /** Starts again with no audio. */
  clear(): void {
    this.#chunks = [];
    this.#endedS = 0;
  }
}
