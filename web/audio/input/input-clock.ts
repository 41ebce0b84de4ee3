/** Number of blocks that are considered: the latest second. */
const MAX_BLOCKS = 12;

/** Relates offsets in recorded audio to the page clock. Pure. */
export class InputClock {
  /** For each of the latest blocks: when offset 0 was recorded, as if there was no pause and the block arrived without a delay. */
  #starts: number[] = [];

  /**
   * @param lengthMs duration of the audio, including a block that has just arrived.
   * @param nowMs page clock.
   */
  add(lengthMs: number, nowMs: number): void {
    this.#starts = [...this.#starts, nowMs - lengthMs].slice(-MAX_BLOCKS);
  }

  /**
   * Time of the page clock at which offset 0 was recorded; undefined before the first block. The earliest estimate is the best,
   * because a busy page receives blocks late.
   */
  get startMs(): number | undefined {
    return this.#starts.length === 0 ? undefined : Math.min(...this.#starts);
  }
}
