import type { Float32Samples } from '../contract/engines/audio.ts';

/** Concatenates arrays of samples. */
export function concatenate(runs: readonly Float32Samples[]): Float32Samples {
  const all = new Float32Array(runs.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const run of runs) {
    all.set(run, at);
    at += run.length;
  }
  return all;
}
