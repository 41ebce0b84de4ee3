/** How long each token lasts at a speed, in text frames of 25 ms, from the durations that the model predicts. */

/** A token without a frame would not sound. The published graph has the same limit. */
const MIN_FRAMES = 1;

/**
 * The frames of each token. Up to speed 1, the predicted duration is divided by the speed and rounded, as in the published
 * graph.
 *
 * Above speed 1, the end of each token is rounded instead of its length (one-dimensional error diffusion: R. W. Floyd and
 * L. Steinberg, "An adaptive algorithm for spatial greyscale", 1976). Most sounds last two frames. At speed 1.5 their 1.33
 * frames would all be rounded to one, twice as fast as requested, while the long pauses keep the requested ratio; listeners
 * then miss short consonants. With rounded ends, one frame follows two in turn, every token starts within half a frame of
 * its time, and the sum is exact, unless more tokens than frames remain.
 *
 * The leading pad keeps its natural length, because the first sound starts before its end: with a shorter pad, whisper
 * misunderstands the first word of most sentences at speed 1.5.
 *
 * @param predicted durations at speed 1, with a pad token at both ends.
 * @param speed 1 is the natural speed, 2 is twice as fast.
 */
export function durationsAt(speed: number, predicted: Float32Array): Float32Array<ArrayBuffer> {
  const durations = new Float32Array(predicted.length);
  const [pad = 0] = predicted;
  durations[0] = Math.max(MIN_FRAMES, roundHalfToEven(pad));
  let [exactEnd, end] = [0, 0];
  for (let token = 1; token < predicted.length; token++) {
    const exact = Math.fround((predicted[token] ?? 0) / speed);
    exactEnd += exact;
    const frames = speed > 1 ? Math.round(exactEnd) - end : roundHalfToEven(exact);
    durations[token] = Math.max(MIN_FRAMES, frames);
    end += durations[token] ?? 0;
  }
  return durations;
}

/** The rounding of the operator Round of ONNX. */
function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest === 0.5) return floor % 2 === 0 ? floor : floor + 1;
  return rest < 0.5 ? floor : floor + 1;
}
