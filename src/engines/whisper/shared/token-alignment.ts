/**
 * Aligns tokens with audio frames by the cross-attention of the decoder, as in openai/whisper `whisper/timing.py`: the
 * attention of the alignment heads is standardised and smoothed, followed by dynamic time warping.
 */

/** Duration of an encoder frame, in seconds. */
export const ATTENTION_FRAME_S = 0.02;

/** Cross-attention of the alignment heads. */
export interface Attention {
  /** Probabilities [heads x rows x frames]. A row is the decoder step that chose a token. */
  readonly data: Float32Array;
  readonly heads: number;
  /** Number of decoder steps, including those of `<|startoftranscript|>` and the prompt after it. */
  readonly rows: number;
  /** Number of encoder frames, including padding. */
  readonly frames: number;
}

/** Window of the median filter, in frames. */
const MEDIAN_LENGTH = 7;
const MEDIAN_REACH = 3;

/**
 * Returns the start frame of each token: {@link Attention.rows} − `firstRow` monotonically increasing values, in frames of
 * {@link ATTENTION_FRAME_S}. Row `firstRow` chose the first text token and the last row chose the end of text, so the last
 * value is the end of the last token.
 * @param realFrames number of frames with audio; 1 to {@link Attention.frames}.
 */
export function alignTokens(attention: Attention, firstRow: number, realFrames: number): Int32Array {
  const matrix = alignmentMatrix(attention, firstRow, realFrames);
  return firstFrames(matrix, attention.rows - firstRow, realFrames);
}

/** Standardised attention of each step from `firstRow` on to each frame, averaged over the heads. */
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
      // Normalizing over the real frames equals a softmax over the real frames only.
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

/** Adds `share` times the moving median of `line`, mirrored at its ends, to `output`. */
function addMedians(line: Float32Array, output: Float32Array, share: number): void {
  const length = line.length;
  if (length <= MEDIAN_REACH) {
    for (let index = 0; index < length; index++) {
      output[index] = (output[index] as number) + share * (line[index] as number);
    }
    return;
  }
  const valueAt = (index: number): number => line[mirror(index, length)] as number;
  // The sorted values of the window. Each step removes one value and inserts another.
  const sorted = new Float32Array(MEDIAN_LENGTH);
  for (let index = 0; index < MEDIAN_LENGTH; index++) sorted[index] = valueAt(index - MEDIAN_REACH);
  sorted.sort();
  output[0] = (output[0] as number) + share * (sorted[MEDIAN_REACH] as number);
  for (let index = 1; index < length; index++) {
    const leaving = valueAt(index - MEDIAN_REACH - 1);
    const entering = valueAt(index + MEDIAN_REACH);
    let position = 0;
    while (position + 1 < MEDIAN_LENGTH && sorted[position] !== leaving) position++;
    while (position + 1 < MEDIAN_LENGTH && (sorted[position + 1] as number) < entering) {
      sorted[position] = sorted[position + 1] as number;
      position++;
    }
    while (position > 0 && (sorted[position - 1] as number) > entering) {
      sorted[position] = sorted[position - 1] as number;
      position--;
    }
    sorted[position] = entering;
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

/** The frame at which the path with the maximum sum through `matrix` [rows x frames] enters each row. */
function firstFrames(matrix: Float32Array, rows: number, frames: number): Int32Array {
  const steps = new Uint8Array(rows * frames);
  // Costs of the paths to the previous row and to this one. Index 0 is the position before the first frame.
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
