/**
 * Whisper's input: the log-mel spectrogram of 16 kHz audio, as in openai/whisper `whisper/audio.py`.
 *
 * Frames of 400 samples under a periodic Hann window every 160, power spectrum, mel filter bank 0–8 kHz
 * with Slaney's scale and norm (`librosa.filters.mel`), log10, the dynamic range cut to 8, (x + 4) / 4.
 */

import type { Float32Samples } from '../../contract/audio.ts';
import { LISTEN_RATE_HZ } from '../../contract/audio.ts';
import { FourierTransform400, TRANSFORM_LENGTH } from './fourier-400.ts';

/** Samples from one frame to the next. */
export const HOP_LENGTH = 160;
/** Frames in the 30 s that Whisper was trained on. */
export const FULL_FRAMES = 3_000;

const BINS = TRANSFORM_LENGTH / 2 + 1;
const HALF = TRANSFORM_LENGTH / 2;
const LEAST_POWER = 1e-10;
/** log10 of {@link LEAST_POWER}. */
const SILENCE = -10;
/** What lies further below the loudest value, in log10, is raised to it. */
const DYNAMIC_RANGE = 8;

/** Makes log-mel spectrograms; holds its tables and buffers, so one object serves one thread. */
export class LogMel {
  readonly #filters: FilterBank;
  readonly #transform = new FourierTransform400();
  readonly #window = hannWindow();
  readonly #first = new Float64Array(BINS);
  readonly #second = new Float64Array(BINS);

  /** @param bands 80, or 128 for large-v3 and its kin. */
  constructor(readonly bands: 80 | 128) {
    this.#filters = melFilters(bands);
  }

  /**
   * Spectrogram of mono audio at {@link LISTEN_RATE_HZ}, [bands x count], band after band.
   *
   * Frame `t` is centred on sample `160 t`. The audio is mirrored at its start. With `count` left out there
   * are floor(samples / 160) frames and the audio is mirrored at its end too; with `count` given silence
   * follows the audio, as Whisper pads an utterance, or what is past the last frame is left out.
   */
  frames(samples: Float32Samples, count?: number): Float32Samples {
    const frames = count ?? Math.floor(samples.length / HOP_LENGTH);
    const { bands } = this;
    const output = new Float32Array(bands * frames);
    // The first frame whose window begins past the audio, and all after it, hear nothing.
    const heard = Math.min(frames, Math.ceil((samples.length + HALF) / HOP_LENGTH));
    const padded = pad(samples, heard, count === undefined);
    let loudest = heard < frames ? SILENCE : Number.NEGATIVE_INFINITY;
    for (let frame = 0; frame < heard; frame += 2) {
      const last = frame + 1 === heard;
      this.#powers(padded, frame * HOP_LENGTH, last);
      loudest = Math.max(loudest, this.#bandsInto(this.#first, output, frame, frames));
      if (!last) loudest = Math.max(loudest, this.#bandsInto(this.#second, output, frame + 1, frames));
    }
    const floor = loudest - DYNAMIC_RANGE;
    const silence = (Math.max(SILENCE, floor) + 4) / 4;
    for (let band = 0; band < bands; band++) {
      const row = band * frames;
      for (let index = row; index < row + heard; index++) {
        const value = output[index] as number;
        output[index] = (Math.max(value, floor) + 4) / 4;
      }
      output.fill(silence, row + heard, row + frames);
    }
    return output;
  }

  /** Power spectra of the frames at `offset` and one hop later: two real signals in one complex transform. */
  #powers(samples: Float32Array, offset: number, alone: boolean): void {
    const { real, imaginary } = this.#transform;
    const window = this.#window;
    for (let index = 0; index < TRANSFORM_LENGTH; index++) {
      const weight = window[index] as number;
      real[index] = weight * (samples[offset + index] as number);
      imaginary[index] = alone ? 0 : weight * (samples[offset + HOP_LENGTH + index] as number);
    }
    this.#transform.run();
    const first = this.#first;
    const second = this.#second;
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

  /** Writes log10 of a power spectrum's mel bands to one column; returns the greatest. */
  #bandsInto(powers: Float64Array, output: Float32Array, column: number, frames: number): number {
    const { firstBin, offsets, weights } = this.#filters;
    let greatest = Number.NEGATIVE_INFINITY;
    for (let band = 0; band < this.bands; band++) {
      const begin = offsets[band] as number;
      const end = offsets[band + 1] as number;
      const shift = (firstBin[band] as number) - begin;
      let power = 0;
      for (let index = begin; index < end; index++) {
        power += (weights[index] as number) * (powers[index + shift] as number);
      }
      const value = power > LEAST_POWER ? Math.log10(power) : SILENCE;
      output[column + band * frames] = value;
      if (value > greatest) greatest = value;
    }
    return greatest;
  }
}

/** The audio as the windows of `frames` frames meet it: half a window before it, and what lacks after it. */
function pad(samples: Float32Samples, frames: number, mirrorEnd: boolean): Float32Array {
  const length = Math.max(0, (frames - 1) * HOP_LENGTH + TRANSFORM_LENGTH);
  const padded = new Float32Array(length);
  padded.set(samples.subarray(0, Math.max(0, length - HALF)), HALF);
  for (let index = 1; index <= HALF; index++) padded[HALF - index] = samples[index] ?? 0;
  if (!mirrorEnd) return padded;
  for (let index = HALF + samples.length; index < length; index++) {
    padded[index] = samples[2 * (samples.length - 1) - (index - HALF)] ?? 0;
  }
  return padded;
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
