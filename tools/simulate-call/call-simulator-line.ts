/** The two audio channels of a call, sent as the interleaved frames of the platform in real time. */

export type Speaker = 'customer' | 'assistant';

/** Start and end of an utterance, in ms of the monotonic clock. */
export interface UtteranceTimes {
  readonly startMs: number;
  /** When its last sound was sent, without trailing silence. */
  readonly endMs: number;
}

export interface LineOptions {
  readonly rateHz: number;
  readonly send: (frame: Uint8Array) => void;
  /** Lengths of consecutive frames in bytes, repeated; odd lengths split samples. */
  readonly frameBytes?: readonly number[];
}

/** Typical frame lengths of telephone software, and extreme ones. */
const ODD_FRAMES = [641, 1283, 320, 3, 2557, 1, 997];
const TICK_MS = 20;
const SPEAKERS: readonly Speaker[] = ['customer', 'assistant'];

interface Utterance {
  readonly samples: Int16Array;
  readonly lastSound: number;
  at: number;
  startMs: number | undefined;
  endMs: number | undefined;
  readonly resolve: (times: UtteranceTimes) => void;
}

/** Sends both channels in real time until the call ends; background noise between utterances. */
export class CallLine {
  readonly #options: LineOptions;
  readonly #queues: Record<Speaker, Utterance[]> = { customer: [], assistant: [] };
  readonly #startMs = performance.now();
  readonly #timer: Timer;
  #sentPairs = 0;
  #frames = 0;
  /** Bytes of the next, incomplete frame. */
  #waiting = Buffer.alloc(0);

  constructor(options: LineOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Queues an utterance of a speaker. Resolves when it has been sent or interrupted. */
  say(speaker: Speaker, samples: Int16Array): Promise<UtteranceTimes> {
    const { promise, resolve } = Promise.withResolvers<UtteranceTimes>();
    const lastSound = lastSoundOf(samples);
    this.#queues[speaker].push({ samples, lastSound, at: 0, startMs: undefined, endMs: undefined, resolve });
    return promise;
  }

  /** Whether a speaker has unsent audio. */
  isSpeaking(speaker: Speaker): boolean {
    return this.#queues[speaker].length > 0;
  }

  /** Discards the unsent audio of a speaker. */
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
      // Background noise of one bit.
      let sample = (pair * 7919) % 3 === 0 ? 1 : 0;
      const utterance = queue[0];
      if (utterance !== undefined) {
        utterance.startMs ??= nowMs;
        sample = utterance.samples[utterance.at] ?? 0;
        utterance.at += 1;
        if (utterance.at >= utterance.lastSound) utterance.endMs ??= nowMs;
        if (utterance.at >= utterance.samples.length) {
          queue.shift();
          utterance.resolve({ startMs: utterance.startMs, endMs: utterance.endMs ?? nowMs });
        }
      }
      pairs[pair * 2 + channel] = sample;
    }
  }
}

/** Position after the last sample that is within 40 dB of the loudest. */
function lastSoundOf(samples: Int16Array): number {
  const loudest = samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);
  return samples.findLastIndex((sample) => Math.abs(sample) * 100 >= loudest) + 1;
}
