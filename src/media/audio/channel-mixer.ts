import type { Float32Samples } from '../../contract/engines/audio.ts';

/** Decoder overshoot is kept; values of float files above +18 dBFS are clamped. */
const MAX_SAMPLE = 8;
/** The channels are compared, and a change fades, in steps of this time, in seconds. */
const STEP_S = 0.05;
/** Weight of the past halves in this time, in seconds. */
const HALF_LIFE_S = 0.1;
/**
 * Power of the sum of the channels, relative to that of uncorrelated channels with the same powers: 1 if they are
 * uncorrelated or only one is loud, the number of channels if they are equal, 0 if they cancel each other. Below the
 * first limit the loudest channel replaces the mean, until the second limit is passed. No natural recording is below:
 * half of the channels must be inverted copies of the others, with at least 45 % of their level.
 */
const CANCELLED_BELOW = 0.25;
const MIXED_ABOVE = 0.5;
/** Factor in power by which another channel must be louder to replace the selected one: 3 dB. */
const LOUDER = 2;

type Weights = readonly number[];

/**
 * Mixes channels to mono: their mean, whose level never exceeds that of the loudest channel; or the loudest channel
 * while the channels cancel each other, as in stereo recordings with one channel inverted by its cable. A change fades.
 */
export class ChannelMixer {
  #powers: number[] = [];
  #sumPower = 0;
  /** Index of the channel that replaces the mean. */
  #selected: number | undefined;
  /** Of the last step; undefined before the first sound. */
  #weights: Weights | undefined;

  /** Mixes the next run of a recording. NaN, which float files may contain, becomes silence. */
  mix(channels: readonly Float32Samples[], rateHz: number): Float32Samples {
    const [only] = channels;
    if (only === undefined) return new Float32Array(0);
    if (channels.length !== this.#powers.length) this.#restart(channels.length);
    for (const channel of channels) removeInvalid(channel);
    if (channels.length === 1) return only;
    const mixed = new Float32Array(only.length);
    const step = Math.ceil(STEP_S * rateHz);
    for (let at = 0; at < only.length; at += step) {
      const part = channels.map((channel) => channel.subarray(at, at + step));
      this.#addMix(part, rateHz, mixed.subarray(at, at + step));
    }
    return mixed;
  }

  #addMix(channels: readonly Float32Samples[], rateHz: number, mixed: Float32Samples): void {
    this.#measure(channels, rateHz);
    if (this.#totalPower === 0) return;
    const weights = this.#select(channels.length);
    addWeighted(mixed, channels, this.#weights ?? weights, weights);
    this.#weights = weights;
  }

  #restart(channels: number): void {
    this.#powers = new Array<number>(channels).fill(0);
    this.#sumPower = 0;
    this.#selected = undefined;
    this.#weights = undefined;
  }

  #measure(channels: readonly Float32Samples[], rateHz: number): void {
    const length = channels[0]?.length ?? 0;
    const kept = 0.5 ** (length / (HALF_LIFE_S * rateHz));
    const powers = channels.map(power);
    const sum = new Float32Array(length);
    for (const channel of channels)
      for (let i = 0; i < length; i++) sum[i] = (sum[i] as number) + (channel[i] as number);
    this.#powers = this.#powers.map((past, channel) => past * kept + (powers[channel] as number));
    this.#sumPower = this.#sumPower * kept + power(sum);
  }

  #select(channels: number): Weights {
    const limit = this.#selected === undefined ? CANCELLED_BELOW : MIXED_ABOVE;
    const isCancelled = this.#sumPower < limit * this.#totalPower;
    const selected = isCancelled ? this.#loudest(this.#selected) : undefined;
    this.#selected = selected;
    return Array.from({ length: channels }, (_, channel) =>
      selected === undefined ? 1 / channels : Number(channel === selected),
    );
  }

  get #totalPower(): number {
    return this.#powers.reduce((sum, value) => sum + value, 0);
  }

  #loudest(selected: number | undefined): number {
    const powers = this.#powers;
    const loudest = powers.indexOf(Math.max(...powers));
    if (selected === undefined) return loudest;
    return (powers[loudest] as number) > LOUDER * (powers[selected] as number) ? loudest : selected;
  }
}

function removeInvalid(samples: Float32Samples): void {
  for (let i = 0; i < samples.length; i++) {
    const value = samples[i] as number;
    if (!(Math.abs(value) <= MAX_SAMPLE))
      samples[i] = Number.isNaN(value) ? 0 : Math.sign(value) * MAX_SAMPLE;
  }
}

function power(samples: Float32Samples): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum;
}

/** Adds the weighted channels; the weights change linearly from the first to the second. */
function addWeighted(
  mixed: Float32Samples,
  channels: readonly Float32Samples[],
  before: Weights,
  after: Weights,
): void {
  for (const [index, channel] of channels.entries()) {
    const from = before[index] as number;
    const step = ((after[index] as number) - from) / mixed.length;
    for (let i = 0; i < mixed.length; i++) {
      mixed[i] = (mixed[i] as number) + (channel[i] as number) * (from + step * (i + 1));
    }
  }
}
