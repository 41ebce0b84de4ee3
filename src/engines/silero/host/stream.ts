/** One stream of the voice activity engine: the audio that waits, its frames, its turns. */

import { ServiceError } from '../../../contract/core/error.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { VadEvent, VadSettings, VadStream } from '../../../contract/engines/engine.ts';
import { type CutFrame, FrameCutter } from './frame-cutter.ts';
import { initial, next, type VadState } from './vad-machine.ts';

/** Frames of one stream in one batch, so that one with much to say does not hold up the others. */
const BATCH_FRAMES = 8;
/** Audio that is resampled at a time. */
const SLICE_MS = 100;
const RETRY_AFTER_S = 1;

export interface StreamOptions {
  /** Number under which the process knows the stream. */
  readonly id: number;
  readonly settings: VadSettings;
  readonly rateHz: number;
  /** Most audio that may wait when more comes. */
  readonly waitingLimitMs: number;
  /** There is something to {@link SileroStream.take}. */
  readonly ready: (stream: SileroStream) => void;
  readonly closed: (stream: SileroStream) => void;
}

/** A call that waits for its events. */
interface Call {
  readonly samples: Float32Samples;
  /** The last call, after which silence is assumed until no turn is open. */
  readonly last: boolean;
  readonly events: VadEvent[];
  readonly resolve: (events: readonly VadEvent[]) => void;
  readonly reject: (error: Error) => void;
  /** Samples that the cutter has. */
  cut: number;
  flushed: boolean;
}

export class SileroStream implements VadStream {
  readonly id: number;
  readonly #options: StreamOptions;
  readonly #cutter: FrameCutter;
  readonly #sliceSamples: number;
  readonly #calls: Call[] = [];
  /** Frames that wait, each with the call whose samples completed it. */
  #frames: { readonly frame: CutFrame; readonly call: Call }[] = [];
  /** How many of them are being judged. */
  #taken = 0;
  #state: VadState = initial;
  /** Samples that were written, and those of them that wait. */
  #written = 0;
  #waiting = 0;
  #ended = false;
  #failure: Error | undefined;

  constructor(options: StreamOptions) {
    this.id = options.id;
    this.#options = options;
    this.#cutter = new FrameCutter(options.rateHz);
    this.#sliceSamples = Math.ceil((options.rateHz * SLICE_MS) / 1000);
  }

  write(samples: Float32Samples): Promise<readonly VadEvent[]> {
    const { rateHz, waitingLimitMs } = this.#options;
    const isOpen = !this.#ended && this.#failure === undefined;
    if (isOpen && this.#waiting > (rateHz * waitingLimitMs) / 1000) {
      const message = `More than ${waitingLimitMs / 1000} s of audio already wait for voice activity detection. Send audio no faster than it can be judged.`;
      return Promise.reject(
        new ServiceError('overloaded', message, { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S }),
      );
    }
    return this.#call(samples, false);
  }

  end(): Promise<readonly VadEvent[]> {
    return this.#call(new Float32Array(0), true);
  }

  #call(samples: Float32Samples, last: boolean): Promise<readonly VadEvent[]> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#ended) return Promise.reject(new Error('The stream has ended.'));
    this.#ended = last;
    this.#written += samples.length;
    this.#waiting += samples.length;
    return new Promise((resolve, reject) => {
      this.#calls.push({ samples, last, events: [], resolve, reject, cut: 0, flushed: false });
      if (this.#taken === 0) this.#options.ready(this);
    });
  }

  /**
   * The next frames to judge, in order, with their rows for the model. Those before were {@link judged}. May
   * be none: then the samples that wait complete no frame.
   */
  take(): readonly CutFrame[] {
    for (const call of this.#calls) {
      while (this.#frames.length < BATCH_FRAMES && this.#cutMore(call));
      if (this.#frames.length >= BATCH_FRAMES) break;
    }
    this.#taken = Math.min(this.#frames.length, BATCH_FRAMES);
    return this.#frames.slice(0, this.#taken).map(({ frame }) => frame);
  }

  /** Cuts another slice of a call; false when there is no more for now. */
  #cutMore(call: Call): boolean {
    let frames: CutFrame[];
    if (call.cut < call.samples.length) {
      const slice = call.samples.subarray(call.cut, call.cut + this.#sliceSamples);
      call.cut += slice.length;
      frames = this.#cutter.push(slice);
    } else if (call.last && !call.flushed) {
      call.flushed = true;
      frames = this.#cutter.flush();
    } else if (call.last && this.#frames.length === 0 && this.#state.kind !== 'silence') {
      frames = Array.from({ length: BATCH_FRAMES }, () => this.#cutter.silence()).flat();
    } else {
      return false;
    }
    for (const frame of frames) this.#frames.push({ frame, call });
    return true;
  }

  /** What the model made of the frames that were taken: a probability for each that had a row. */
  judged(probabilities: Iterable<number>): void {
    const values = probabilities[Symbol.iterator]();
    for (const { frame, call } of this.#frames.splice(0, this.#taken)) {
      const probability = frame.row ? Number(values.next().value) : 0;
      const step = next(this.#state, { probability, energies: frame.energies }, this.#options.settings);
      this.#state = step.state;
      for (const event of step.events) call.events.push(this.#atInputRate(event));
    }
    this.#taken = 0;
    for (let call = this.#calls[0]; call && this.#done(call); call = this.#calls[0]) {
      this.#calls.shift();
      this.#waiting -= call.samples.length;
      call.resolve(call.events);
    }
    if (this.#calls.length > 0) this.#options.ready(this);
  }

  #done(call: Call): boolean {
    if (call.cut < call.samples.length || this.#frames[0]?.call === call) return false;
    return !call.last || (call.flushed && this.#state.kind === 'silence');
  }

  /** Samples at 16 kHz to those of the stream, of which silence after its end is no part. */
  #atInputRate(event: VadEvent): VadEvent {
    const at = (sample: number) =>
      Math.min(this.#written, Math.round((sample * this.#options.rateHz) / LISTEN_RATE_HZ));
    switch (event.kind) {
      case 'started':
        return {
          kind: 'started',
          onsetSample: at(event.onsetSample),
          startSample: at(event.startSample),
        };
      case 'paused':
      case 'stopped':
        return { kind: event.kind, endSample: at(event.endSample) };
      case 'resumed':
        return event;
    }
  }

  /** Fails every call that waits and all that come. */
  fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    for (const call of this.#calls.splice(0)) call.reject(error);
    this.#free();
  }

  /** Calls that wait resolve with no events. */
  close(): void {
    if (this.#failure) return;
    this.#failure = new Error('The stream was closed.');
    for (const call of this.#calls.splice(0)) call.resolve([]);
    this.#free();
  }

  #free(): void {
    this.#frames = [];
    this.#taken = 0;
    this.#cutter.close();
    this.#options.closed(this);
  }
}
