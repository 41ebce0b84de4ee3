/**
 * References for the resampler in float64: test tones, their measurement, and the filter of native/src/fir_table.h as a
 * direct sum over all samples.
 */

/** Samples of `sin(2π · hz · n / rateHz + phase)`. */
export function tone(hz: number, rateHz: number, length: number, phase = 0): Float64Array {
  return Float64Array.from({ length }, (_, n) => Math.sin((2 * Math.PI * hz * n) / rateHz + phase));
}

/** 20·log10, with a floor for silence. */
export function decibels(ratio: number): number {
  return 20 * Math.log10(Math.max(ratio, 1e-12));
}

/** Amplitudes of a fitted tone and of the rest of a signal. */
export interface ToneFit {
  /** Amplitude of the tone, by least squares. */
  readonly amplitude: number;
  /** Root mean square of everything else, times √2: the amplitude of a single other tone. */
  readonly rest: number;
}

/** Fits a tone of known frequency to samples, without assuming its phase. */
export function fitTone(samples: ArrayLike<number>, hz: number, rateHz: number): ToneFit {
  let cc = 0;
  let ss = 0;
  let cs = 0;
  let yc = 0;
  let ys = 0;
  for (let n = 0; n < samples.length; n++) {
    const c = Math.cos((2 * Math.PI * hz * n) / rateHz);
    const s = Math.sin((2 * Math.PI * hz * n) / rateHz);
    const y = samples[n] ?? 0;
    cc += c * c;
    ss += s * s;
    cs += c * s;
    yc += y * c;
    ys += y * s;
  }
  const determinant = cc * ss - cs * cs;
  const a = (yc * ss - ys * cs) / determinant;
  const b = (ys * cc - yc * cs) / determinant;
  let rest = 0;
  for (let n = 0; n < samples.length; n++) {
    const angle = (2 * Math.PI * hz * n) / rateHz;
    rest += ((samples[n] ?? 0) - a * Math.cos(angle) - b * Math.sin(angle)) ** 2;
  }
  return { amplitude: Math.hypot(a, b), rest: Math.sqrt((2 * rest) / samples.length) };
}

/** Modified Bessel function of the first kind and order 0, by its integral (the trapezoidal rule converges quickly). */
function besselI0(x: number): number {
  const steps = 64;
  let sum = 0;
  for (let k = 0; k < steps; k++) sum += Math.exp(x * Math.cos((2 * Math.PI * k) / steps));
  return sum / steps;
}

/**
 * Rate conversion by definition: each output sample is the sum of all input samples times a Kaiser-windowed sinc at its
 * time. The output length is rounded half up.
 */
export function resampleByDefinition(input: ArrayLike<number>, fromHz: number, toHz: number): Float64Array {
  const length = Math.floor((input.length * toHz) / fromHz + 0.5);
  if (fromHz === toHz) return Float64Array.from(input);
  const stretch = Math.max(1, fromHz / toHz);
  const stopBandDb = 110;
  const taps = Math.ceil(((stopBandDb - 7.95) / (2.285 * Math.PI * 0.1)) * stretch);
  const half = (Math.ceil(taps / 16) * 16) / 2;
  const beta = 0.1102 * (stopBandDb - 8.7);
  const gain = besselI0(beta);
  const bandwidth = 0.95 / stretch;
  return Float64Array.from({ length }, (_, n) => {
    const center = (n * fromHz) / toHz;
    let sum = 0;
    const last = Math.min(input.length - 1, Math.ceil(center + half));
    for (let i = Math.max(0, Math.floor(center - half)); i <= last; i++) {
      const time = center - i;
      if (Math.abs(time) >= half) continue;
      const window = besselI0(beta * Math.sqrt(1 - (time / half) ** 2)) / gain;
      const angle = Math.PI * bandwidth * time;
      sum += (input[i] ?? 0) * bandwidth * (angle === 0 ? 1 : Math.sin(angle) / angle) * window;
    }
    return sum;
  });
}
