/** Sample rate conversion for all rates of audio files, from telephone recordings to 768 kHz converters. */

import { Resampler } from '../../audio/resampler.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';

/** Limits of the native resampler. */
const MIN_HZ = 8_000;
const HIGHEST_HZ = 48_000;
/** Maximum ratio of one stage of the native resampler. */
const MAX_FACTOR = 6;

/** Rates that {@link AnyRateResampler} supports, for messages. */
export const ALLOWED_RATES =
  '2000 to 48000 Hz, and above that whole multiples of such a rate up to 768000 Hz';
const LOWEST_FILE_HZ = 2_000;
const HIGHEST_FILE_HZ = 768_000;

/**
 * Integer factors that bring a rate into the range of the native resampler: `down` factors divide it, `up`
 * multiplies it.
 * @returns undefined if there are none.
 */
function stepsFrom(rateHz: number): { readonly up: number; readonly down: readonly number[] } | undefined {
  if (!Number.isInteger(rateHz) || rateHz < LOWEST_FILE_HZ || rateHz > HIGHEST_FILE_HZ) return undefined;
  if (rateHz < MIN_HZ) return { up: Math.ceil(MIN_HZ / rateHz), down: [] };
  for (let divisor = Math.ceil(rateHz / HIGHEST_HZ); rateHz / divisor >= MIN_HZ; divisor++) {
    const down = rateHz % divisor === 0 ? smallFactors(divisor) : undefined;
    if (down) return { up: 1, down };
  }
  return undefined;
}

/** The fewest factors of at max {@link MAX_FACTOR} whose product is `n`; undefined if there are none. */
function smallFactors(n: number): readonly number[] | undefined {
  const factors: number[] = [];
  let rest = n;
  for (let factor = MAX_FACTOR; factor > 1; factor--) {
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  }
  return rest === 1 ? factors : undefined;
}

/** Whether {@link AnyRateResampler} supports an input rate. */
export function isConvertible(rateHz: number): boolean {
  return stepsFrom(rateHz) !== undefined;
}

/**
 * {@link Resampler} for one mono float stream with any rate of {@link ALLOWED_RATES}. A rate outside the
 * range of the native resampler is first divided or multiplied by integers. The filter depends only on the
 * ratio of its two rates, so 192 kHz to 48 kHz uses the filter for 48 kHz to 12 kHz: the same stop band and
 * pass band relative to the lower Nyquist frequency. The number of samples is exact to one sample per stage.
 */
export class AnyRateResampler {
  readonly #stages: readonly Resampler<'float32'>[];
  readonly fromHz: number;

  /** @throws RangeError if a rate is not supported; see {@link isConvertible}. */
  constructor(fromHz: number, toHz: number) {
    const steps = stepsFrom(fromHz);
    if (steps === undefined) throw new RangeError(`fromHz must be ${ALLOWED_RATES}, got ${fromHz}`);
    this.fromHz = fromHz;
    const pairs: [fromHz: number, toHz: number][] = steps.down.map((factor) => [
      HIGHEST_HZ,
      HIGHEST_HZ / factor,
    ]);
    if (steps.up > 1) pairs.push([MIN_HZ, MIN_HZ * steps.up]);
    pairs.push([steps.down.reduce((rateHz, factor) => rateHz / factor, fromHz * steps.up), toHz]);
    this.#stages = pairs.map(([from, to]) => new Resampler({ fromHz: from, toHz: to, format: 'float32' }));
  }

  /** Appends samples and returns the completed output, possibly empty. */
  push(samples: Float32Samples): Float32Samples {
    return this.#stages.reduce((passed, stage) => stage.push(passed), samples);
  }

  /** Ends the stream and returns the remaining output, in order. */
  *flush(): Generator<Float32Samples> {
    for (const [index, stage] of this.#stages.entries()) {
      const rest = stage.flush();
      yield this.#stages.slice(index + 1).reduce((passed, later) => later.push(passed), rest);
    }
  }

  /** Frees the native memory. Idempotent. */
  close(): void {
    for (const stage of this.#stages) stage.close();
  }
}
