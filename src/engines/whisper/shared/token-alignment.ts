/**
 * When each token was said, from where the decoder looked: openai/whisper's `whisper/timing.py`. Attention of
 * the alignment heads, standardised and smoothed, then dynamic time warping.
 */

/** Seconds from one encoder frame to the next. */
export const ATTENTION_FRAME_S = 0.02;

/** Cross-attention of the alignment heads. */
export interface Attention {
  /** Probabilities [heads x rows x frames]; a row is the step that chose a token. */
  readonly data: Float32Array;
  readonly heads: number;
  /** All steps of the window, those of `<|startoftranscript|>` and after it too. */
  readonly rows: number;
  /** Encoder frames, padding included. */
  readonly frames: number;
}

/** Frames that the median is taken over. */
const MEDIAN_LENGTH = 7;
const MEDIAN_REACH = 3;

/**
 * Frames at which tokens begin: {@link Attention.rows} − `firstRow` values that never fall, in frames of
 * {@link ATTENTION_FRAME_S}. Row `firstRow` chose the first token of text, the last row the end of text, so the
 * last value is where the last token ends.
 * @param realFrames how many frames hold audio; 1 to {@link Attention.frames}.
 */
export function alignTokens(attention: Attention, firstRow: number, realFrames: number): Int32Array {
  const matrix = alignmentMatrix(attention, firstRow, realFrames);
  return firstFrames(matrix, attention.rows - firstRow, realFrames);
}

/** How strongly each step from `firstRow` on points at each frame, averaged over the heads. */
function alignmentMatrix(attention: Attention, firstRow: number, realFrames: number): Float32Array {
  const { data, heads, rows, frames } = attention;
  const matrix = new Float32Array((rows - firstRow) * realFrames);
  const weights = new Float32Array(rows * realFrames);
  const mean = new Float64Array(realFrames);
  const scale = new Float64Array(realFrames);
  for (let head = 0; head < heads; head++) {
    mean.fill(0);
    scale.fill(0);
    for (let row = 0; row < rows; row++) {
      const from = (head * rows + row) * frames;
      const to = row * realFrames;
      // A softmax over the real frames alone is the whole one's share of them.
      let sum = 0;
      for (let frame = 0; frame < realFrames; frame++) sum += data[from + frame] as number;
      const share = sum > 0 ? 1 / sum : 0;
      for (let frame = 0; frame < realFrames; frame++) {
        const weight = (data[from + frame] as number) * share;
        weights[to + frame] = weight;
        mean[frame] = (mean[frame] as number) + weight / rows;
      }
    }
    for (let row = 0; row < rows; row++) {
      const to = row * realFrames;
      for (let frame = 0; frame < realFrames; frame++) {
        const difference = (weights[to + frame] as number) - (mean[frame] as number);
        weights[to + frame] = difference;
        scale[frame] = (scale[frame] as number) + difference * difference;
      }
    }
    for (let frame = 0; frame < realFrames; frame++) {
      const deviation = Math.sqrt((scale[frame] as number) / rows);
      scale[frame] = deviation > 0 ? 1 / deviation : 0;
    }
    for (let row = firstRow; row < rows; row++) {
      const line = weights.subarray(row * realFrames, (row + 1) * realFrames);
      for (let frame = 0; frame < realFrames; frame++) {
        line[frame] = (line[frame] as number) * (scale[frame] as number);
      }
      addMedians(line, matrix.subarray((row - firstRow) * realFrames), 1 / heads);
    }
  }
  return matrix;
}

/** Adds `share` times the running median of `line`, mirrored at its ends, to `output`. */
function addMedians(line: Float32Array, output: Float32Array, share: number): void {
  const length = line.length;
  if (length <= MEDIAN_REACH) {
    for (let index = 0; index < length; index++) {
      output[index] = (output[index] as number) + share * (line[index] as number);
    }
    return;
  }
  const at = (index: number): number => line[mirror(index, length)] as number;
  // The window in order of size; each step takes one value out and another in.
  const sorted = new Float32Array(MEDIAN_LENGTH);
  for (let index = 0; index < MEDIAN_LENGTH; index++) sorted[index] = at(index - MEDIAN_REACH);
  sorted.sort();
  output[0] = (output[0] as number) + share * (sorted[MEDIAN_REACH] as number);
  for (let index = 1; index < length; index++) {
    const leaving = at(index - MEDIAN_REACH - 1);
    const entering = at(index + MEDIAN_REACH);
    let place = 0;
    while (place + 1 < MEDIAN_LENGTH && sorted[place] !== leaving) place++;
    while (place + 1 < MEDIAN_LENGTH && (sorted[place + 1] as number) < entering) {
      sorted[place] = sorted[place + 1] as number;
      place++;
    }
    while (place > 0 && (sorted[place - 1] as number) > entering) {
      sorted[place] = sorted[place - 1] as number;
      place--;
    }
    sorted[place] = entering;
    output[index] = (output[index] as number) + share * (sorted[MEDIAN_REACH] as number);
  }
}

function mirror(index: number, length: number): number {
  const positive = index < 0 ? -index : index;
  return positive < length ? positive : 2 * (length - 1) - positive;
}

const DIAGONAL = 0;
const NEXT_ROW = 1;
const NEXT_FRAME = 2;

/** The frame at which the path of greatest sum through `matrix` [rows x frames] enters each row. */
function firstFrames(matrix: Float32Array, rows: number, frames: number): Int32Array {
  const steps = new Uint8Array(rows * frames);
  // Costs of the paths to the row above and to this one; before the first frame there is none.
  let above = new Float32Array(frames + 1).fill(Number.POSITIVE_INFINITY);
  let costs = new Float32Array(frames + 1);
  above[0] = 0;
  for (let row = 0; row < rows; row++) {
    costs[0] = Number.POSITIVE_INFINITY;
    for (let frame = 0; frame < frames; frame++) {
      const diagonal = above[frame] as number;
      const down = above[frame + 1] as number;
      const along = costs[frame] as number;
      let step = NEXT_FRAME;
      let cost = along;
      if (diagonal < down && diagonal < along) {
        step = DIAGONAL;
        cost = diagonal;
      } else if (down < diagonal && down < along) {
        step = NEXT_ROW;
        cost = down;
      }
      steps[row * frames + frame] = step;
      costs[frame + 1] = cost - (matrix[row * frames + frame] as number);
    }
    [above, costs] = [costs, above];
  }
  const entered = new Int32Array(rows);
  let row = rows - 1;
  let frame = frames - 1;
  while (row >= 0) {
    entered[row] = frame;
    const step = frame === 0 ? NEXT_ROW : row === 0 ? NEXT_FRAME : steps[row * frames + frame];
    if (step !== NEXT_FRAME) row--;
    if (step !== NEXT_ROW) frame--;
  }
  return entered;
}
