/**
 * Mel spectra of 16 kHz audio as the models here were trained on: frames of 400 samples under a periodic Hann
 * window every 160, power spectrum, mel filter bank 0–8 kHz with Slaney's scale and norm (`librosa.filters.mel`).
 */

import { LISTEN_RATE_HZ } from '../../contract/engines/audio.ts';
import { FourierTransform400, TRANSFORM_LENGTH } from './fourier-400.ts';

/** Samples from one frame to the next. */
export const HOP_LENGTH = 160;
/** Samples of a frame. */
export const FRAME_LENGTH = TRANSFORM_LENGTH;

const BINS = TRANSFORM_LENGTH / 2 + 1;

/** Holds its tables and buffers, so one object serves one thread. */
export class MelPower {
  /** Power of each band of the frame that was asked for, and of the one a hop later; each call writes them anew. */
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
   * Measures the frames that begin at `offset` and one hop later.
   * @param alone whether there is no second one.
   */
  measure(samples: Float32Array, offset: number, alone: boolean): void {
    this.#powers(samples, offset, alone);
    this.#intoBands(this.#firstBins, this.first);
    if (!alone) this.#intoBands(this.#secondBins, this.second);
  }

  /** Power spectra: two real signals in one complex transform. */
  #powers(samples: Float32Array, offset: number, alone: boolean): void {
    const { real, imaginary } = this.#transform;
    const window = this.#window;
    for (let index = 0; index < TRANSFORM_LENGTH; index++) {
      const weight = window[index] as number;
      real[index] = weight * (samples[offset + index] as number);
      imaginary[index] = alone ? 0 : weight * (samples[offset + HOP_LENGTH + index] as number);
    }
    this.#transform.run();
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
      const begin = offsets[band] as number;
      const end = offsets[band + 1] as number;
      const shift = (firstBin[band] as number) - begin;
      let power = 0;
      for (let index = begin; index < end; index++) {
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

/** Rows of a filter bank without their zeros: row `b` weighs the bins from `firstBin[b]` on. */
interface FilterBank {
  readonly firstBin: Int32Array;
  /** Where each row begins in `weights`; one more at the end. */
  readonly offsets: Int32Array;
  readonly weights: Float64Array;
}

/** Triangles evenly spaced on Slaney's mel scale, each of area 1 in Hz (`librosa.filters.mel`). */
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

/** Slaney's mel scale: linear up to 1 kHz, then 27 mels for each factor of 6.4. */
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
