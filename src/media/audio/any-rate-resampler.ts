/** Change of sample rate for every rate that files have, from telephone recorders to 768 kHz converters. */

import { Resampler } from '../../audio/resampler.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';

/** The resampler's own limits. */
const LOWEST_HZ = 8_000;
const HIGHEST_HZ = 48_000;
/** Largest factor of one stage: the resampler's limits are six to one. */
const LARGEST_FACTOR = 6;

/** What {@link AnyRateResampler} takes, for messages. */
export const ALLOWED_RATES =
  '2000 to 48000 Hz, and above that whole multiples of such a rate up to 768000 Hz';
const LOWEST_FILE_HZ = 2_000;
const HIGHEST_FILE_HZ = 768_000;

/**
 * Whole steps that bring a rate into the resampler's range: positive factors divide it, `up` multiplies.
 * @returns undefined when there are none.
 */
function stepsFrom(rateHz: number): { readonly up: number; readonly down: readonly number[] } | undefined {
  if (!Number.isInteger(rateHz) || rateHz < LOWEST_FILE_HZ || rateHz > HIGHEST_FILE_HZ) return undefined;
  if (rateHz < LOWEST_HZ) return { up: Math.ceil(LOWEST_HZ / rateHz), down: [] };
  for (let divisor = Math.ceil(rateHz / HIGHEST_HZ); rateHz / divisor >= LOWEST_HZ; divisor++) {
    const down = rateHz % divisor === 0 ? smallFactors(divisor) : undefined;
    if (down) return { up: 1, down };
  }
  return undefined;
}

/** The fewest factors of at most {@link LARGEST_FACTOR} whose product is `n`; undefined when there are none. */
function smallFactors(n: number): readonly number[] | undefined {
  const factors: number[] = [];
  let rest = n;
  for (let factor = LARGEST_FACTOR; factor > 1; factor--) {
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  }
  return rest === 1 ? factors : undefined;
}

/** Whether {@link AnyRateResampler} can convert from a rate. */
export function isConvertible(rateHz: number): boolean {
  return stepsFrom(rateHz) !== undefined;
}

/**
 * {@link Resampler} for one mono float stream of any rate of {@link ALLOWED_RATES}. A rate outside its range
 * is first divided or multiplied by whole numbers. Only the ratio of its two rates matters to the filter, so
 * 192 kHz to 48 kHz is done by the one for 48 kHz to 12 kHz: same stop-band and pass-band relative to the lower
 * Nyquist frequency. The number of samples is exact to one for each stage.
 */
export class AnyRateResampler {
  readonly #stages: readonly Resampler<'float32'>[];
  readonly fromHz: number;

  /** @throws RangeError when a rate is not allowed; see {@link isConvertible}. */
  constructor(fromHz: number, toHz: number) {
    const steps = stepsFrom(fromHz);
    if (steps === undefined) throw new RangeError(`fromHz must be ${ALLOWED_RATES}, got ${fromHz}`);
    this.fromHz = fromHz;
    const pairs: [fromHz: number, toHz: number][] = steps.down.map((factor) => [
      HIGHEST_HZ,
      HIGHEST_HZ / factor,
    ]);
    if (steps.up > 1) pairs.push([LOWEST_HZ, LOWEST_HZ * steps.up]);
    pairs.push([steps.down.reduce((rateHz, factor) => rateHz / factor, fromHz * steps.up), toHz]);
    this.#stages = pairs.map(([from, to]) => new Resampler({ fromHz: from, toHz: to, format: 'float32' }));
  }

  /** Takes samples and returns those that they complete, maybe none. */
  push(samples: Float32Samples): Float32Samples {
    return this.#stages.reduce((passed, stage) => stage.push(passed), samples);
  }

  /** Ends the stream and returns the rest, in order. */
  *flush(): Generator<Float32Samples> {
    for (const [index, stage] of this.#stages.entries()) {
      const rest = stage.flush();
      yield this.#stages.slice(index + 1).reduce((passed, later) => later.push(passed), rest);
    }
  }

  /** Frees the memory now. Idempotent. */
  close(): void {
    for (const stage of this.#stages) stage.close();
  }
}
