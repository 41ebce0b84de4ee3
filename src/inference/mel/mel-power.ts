/**
 * Mel power spectra of 16 kHz audio, as used in the training of Whisper and Resemblyzer: frames of 400 samples under a
 * periodic Hann window, hop of 160 samples, power spectrum, mel filter bank 0–8 kHz with Slaney's scale and norm
 * (`librosa.filters.mel`).
 */

import { LISTEN_RATE_HZ } from '../../contract/engines/audio.ts';
import { FourierTransform400, TRANSFORM_LENGTH } from './fourier-400.ts';

/** Distance between the starts of two frames, in samples. */
export const HOP_LENGTH = 160;
/** Length of a frame, in samples. */
export const FRAME_LENGTH = TRANSFORM_LENGTH;

const BINS = TRANSFORM_LENGTH / 2 + 1;

/** Computes mel power spectra. Reuses its buffers, so an instance must not be shared between threads. */
export class MelPower {
  /** Power of each band of the measured frame and of the next one. Overwritten by each call of {@link measure}. */
  readonly first: Float64Array;
  readonly second: Float64Array;
  readonly #filters: FilterBank;
  readonly #transform = new FourierTransform400();
  readonly #window = hannWindow();
  readonly #firstBins = new Float64Array(BINS);
  readonly #secondBins = new Float64Array(BINS);

  constructor(readonly bands: number) {
    this.first = new Float64Array(bands);
    this.second = new Float64Array(bands);
    this.#filters = melFilters(bands);
  }

  /**
   * Measures the frame at `offset` and the frame one hop later.
   * @param single whether to measure the first frame only.
   */
  measure(samples: Float32Array, offset: number, single: boolean): void {
    this.#powers(samples, offset, single);
    this.#intoBands(this.#firstBins, this.first);
    if (!single) this.#intoBands(this.#secondBins, this.second);
  }

  /** Computes two power spectra with one complex transform: one frame as its real part, the other as its imaginary part. */
  #powers(samples: Float32Array, offset: number, single: boolean): void {
    const { real, imaginary } = this.#transform;
    const window = this.#window;
    for (let index = 0; index < TRANSFORM_LENGTH; index++) {
      const weight = window[index] as number;
      real[index] = weight * (samples[offset + index] as number);
      imaginary[index] = single ? 0 : weight * (samples[offset + HOP_LENGTH + index] as number);
    }
    this.#transform.transform();
    const first = this.#firstBins;
    const second = this.#secondBins;
    for (let bin = 0; bin < BINS; bin++) {
      const mirrored = bin === 0 ? 0 : TRANSFORM_LENGTH - bin;
      const a = real[bin] as number;
      const b = imaginary[bin] as number;
      const c = real[mirrored] as number;
      const d = imaginary[mirrored] as number;
      first[bin] = ((a + c) * (a + c) + (b - d) * (b - d)) / 4;
      second[bin] = ((b + d) * (b + d) + (a - c) * (a - c)) / 4;
    }
  }

  #intoBands(powers: Float64Array, output: Float64Array): void {
    const { firstBin, offsets, weights } = this.#filters;
    for (let band = 0; band < this.bands; band++) {
      const start = offsets[band] as number;
      const end = offsets[band + 1] as number;
      const shift = (firstBin[band] as number) - start;
      let power = 0;
      for (let index = start; index < end; index++) {
        power += (weights[index] as number) * (powers[index + shift] as number);
      }
      output[band] = power;
    }
  }
}

function hannWindow(): Float64Array {
  const turn = (2 * Math.PI) / TRANSFORM_LENGTH;
  return Float64Array.from({ length: TRANSFORM_LENGTH }, (_, index) => 0.5 - 0.5 * Math.cos(turn * index));
}

/** Rows of a filter bank without their zeros. Row `b` contains the weights of the bins from `firstBin[b]` on. */
interface FilterBank {
  readonly firstBin: Int32Array;
  /** Start of each row in `weights`, followed by the length of `weights`. */
  readonly offsets: Int32Array;
  readonly weights: Float64Array;
}

/** Triangular filters, evenly spaced on Slaney's mel scale, each with an area of 1 in Hz (`librosa.filters.mel`). */
function melFilters(bands: number): FilterBank {
  const top = hzToMel(LISTEN_RATE_HZ / 2);
  const edges = Array.from({ length: bands + 2 }, (_, index) => melToHz((top * index) / (bands + 1)));
  const firstBin = new Int32Array(bands);
  const offsets = new Int32Array(bands + 1);
  const weights: number[] = [];
  for (let band = 0; band < bands; band++) {
    const [low, centre, high] = edges.slice(band, band + 3) as [number, number, number];
    const binsHz = (bin: number) => (bin * LISTEN_RATE_HZ) / TRANSFORM_LENGTH;
    let bin = 0;
    while (bin < BINS && binsHz(bin) <= low) bin++;
    firstBin[band] = bin;
    for (; bin < BINS && binsHz(bin) < high; bin++) {
      const hz = binsHz(bin);
      const height = Math.min((hz - low) / (centre - low), (high - hz) / (high - centre));
      weights.push((height * 2) / (high - low));
    }
    offsets[band + 1] = weights.length;
  }
  return { firstBin, offsets, weights: Float64Array.from(weights) };
}

/** Slaney's mel scale: linear up to 1 kHz, then logarithmic with 27 mels per factor of 6.4. */
const HZ_PER_MEL = 200 / 3;
const LOG_FROM_HZ = 1_000;
const LOG_FROM_MEL = LOG_FROM_HZ / HZ_PER_MEL;
const LOG_STEP = Math.log(6.4) / 27;

function hzToMel(hz: number): number {
  return hz < LOG_FROM_HZ ? hz / HZ_PER_MEL : LOG_FROM_MEL + Math.log(hz / LOG_FROM_HZ) / LOG_STEP;
}

function melToHz(mel: number): number {
  return mel < LOG_FROM_MEL ? mel * HZ_PER_MEL : LOG_FROM_HZ * Math.exp(LOG_STEP * (mel - LOG_FROM_MEL));
}
