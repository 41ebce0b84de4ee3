/** A phone line with two speakers who may talk simultaneously, as the stereo frames that the platform sends. */

export type Speaker = 'customer' | 'assistant';

/** When words were said, in ms of the process's monotonic time. */
export interface Said {
  readonly startMs: number;
  /** When the last sound of them had been sent; silence behind it does not count. */
  readonly endMs: number;
}

export interface LineOptions {
  readonly rateHz: number;
  readonly send: (frame: Uint8Array) => void;
  /** Lengths of the frames in bytes, in turn; odd ones cut samples in two. */
  readonly frameBytes?: readonly number[];
}

/** Primes around what telephone software sends, and some that are far from it. */
const ODD_FRAMES = [641, 1283, 320, 3, 2557, 1, 997];
const TICK_MS = 20;
const SPEAKERS: readonly Speaker[] = ['customer', 'assistant'];

interface Utterance {
  readonly samples: Int16Array;
  readonly lastSound: number;
  at: number;
  startMs: number | undefined;
  endMs: number | undefined;
  readonly resolve: (said: Said) => void;
}

/** Runs in real time from its making until it is hung up; between words there is a quiet room. */
export class CallLine {
  readonly #options: LineOptions;
  readonly #queues: Record<Speaker, Utterance[]> = { customer: [], assistant: [] };
  readonly #startMs = performance.now();
  readonly #timer: Timer;
  #sentPairs = 0;
  #frames = 0;
  /** Bytes that fill no frame yet. */
  #waiting = Buffer.alloc(0);

  constructor(options: LineOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Says words behind those that this speaker is saying. Resolves when they have been sent. */
  say(speaker: Speaker, samples: Int16Array): Promise<Said> {
    const { promise, resolve } = Promise.withResolvers<Said>();
    const lastSound = lastSoundOf(samples);
    this.#queues[speaker].push({ samples, lastSound, at: 0, startMs: undefined, endMs: undefined, resolve });
    return promise;
  }

  /** Whether a speaker has audio that is not sent. */
  isSpeaking(speaker: Speaker): boolean {
    return this.#queues[speaker].length > 0;
  }

  /** Drops what a speaker has not said, as a platform does when it is interrupted. */
  interrupt(speaker: Speaker): void {
    for (const { resolve } of this.#queues[speaker].splice(0)) {
      const nowMs = performance.now();
      resolve({ startMs: nowMs, endMs: nowMs });
    }
  }

  hangUp(): void {
    clearInterval(this.#timer);
    for (const speaker of SPEAKERS) this.interrupt(speaker);
  }

  #tick(): void {
    const { rateHz } = this.#options;
    const due = Math.floor(((performance.now() - this.#startMs) * rateHz) / 1000);
    const pairs = new Int16Array((due - this.#sentPairs) * 2);
    for (const [channel, speaker] of SPEAKERS.entries()) this.#mix(speaker, pairs, channel);
    this.#sentPairs = due;
    this.#waiting = Buffer.concat([this.#waiting, Buffer.from(pairs.buffer)]);
    const { frameBytes = ODD_FRAMES } = this.#options;
    for (;;) {
      const size = frameBytes[this.#frames % frameBytes.length] ?? 1;
      if (this.#waiting.length < size) break;
      this.#frames += 1;
      this.#options.send(this.#waiting.subarray(0, size));
      this.#waiting = this.#waiting.subarray(size);
    }
  }

  #mix(speaker: Speaker, pairs: Int16Array, channel: number): void {
    const nowMs = performance.now();
    const queue = this.#queues[speaker];
    for (let pair = 0; pair * 2 < pairs.length; pair++) {
      // A room is never silent: one bit of noise.
      let sample = (pair * 7919) % 3 === 0 ? 1 : 0;
      const said = queue[0];
      if (said !== undefined) {
        said.startMs ??= nowMs;
        sample = said.samples[said.at] ?? 0;
        said.at += 1;
        if (said.at >= said.lastSound) said.endMs ??= nowMs;
        if (said.at >= said.samples.length) {
          queue.shift();
          said.resolve({ startMs: said.startMs, endMs: said.endMs ?? nowMs });
        }
      }
      pairs[pair * 2 + channel] = sample;
    }
  }
}

/** Position behind the last sample that is within 40 dB of the loudest. */
function lastSoundOf(samples: Int16Array): number {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return samples.findLastIndex((sample) => Math.abs(sample) * 100 >= loudest) + 1;
}
