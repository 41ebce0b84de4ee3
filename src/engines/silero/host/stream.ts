/** One stream of the voice activity engine: buffered audio, frames and the state of the turn. */

import { ServiceError } from '../../../contract/core/error.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { VadEvent, VadSettings, VadStream } from '../../../contract/engines/engine.ts';
import { type CutFrame, FrameCutter } from './frame-cutter.ts';
import { advanceVad, INITIAL_VAD_STATE, type VadState } from './vad-machine.ts';

/** Maximum number of frames of one stream per batch, so that a stream with much audio does not delay the others. */
const BATCH_FRAMES = 8;
/** Duration of audio per call of the resampler. */
const SLICE_MS = 100;
const RETRY_AFTER_S = 1;

export interface StreamOptions {
  /** Id of the stream in the worker process. */
  readonly id: number;
  readonly settings: VadSettings;
  readonly rateHz: number;
  /** Maximum duration of buffered audio at a write, in ms. */
  readonly maxBufferedMs: number;
  /** Called after each call of `write` or `end`, unless frames of the stream are being classified. */
  readonly onWritten: (stream: SileroStream) => void;
  readonly onClosed: (stream: SileroStream) => void;
}

/** A pending call of `write` or `end`. */
interface Call {
  readonly samples: Float32Samples;
  /** Whether it is the call of `end`, after which silence is appended until no turn is open. */
  readonly last: boolean;
  readonly events: VadEvent[];
  readonly resolve: (events: readonly VadEvent[]) => void;
  readonly reject: (error: Error) => void;
  /** Number of samples passed to the cutter. */
  cut: number;
  flushed: boolean;
}

export class SileroStream implements VadStream {
  readonly id: number;
  readonly #options: StreamOptions;
  readonly #cutter: FrameCutter;
  readonly #sliceSamples: number;
  readonly #calls: Call[] = [];
  /** Frames without a probability, each with the call whose samples completed it. */
  #frames: { readonly frame: CutFrame; readonly call: Call }[] = [];
  /** Number of these frames that are in the current batch. */
  #inBatch = 0;
  #state: VadState = INITIAL_VAD_STATE;
  /** Samples written so far. */
  #written = 0;
  /** Samples of the pending calls. */
  #buffered = 0;
  #finished = false;
  #failure: Error | undefined;

  constructor(options: StreamOptions) {
    this.id = options.id;
    this.#options = options;
    this.#cutter = new FrameCutter(options.rateHz);
    this.#sliceSamples = Math.ceil((options.rateHz * SLICE_MS) / 1000);
  }

  write(samples: Float32Samples): Promise<readonly VadEvent[]> {
    const { rateHz, maxBufferedMs } = this.#options;
    const isOpen = !this.#finished && this.#failure === undefined;
    if (isOpen && this.#buffered > (rateHz * maxBufferedMs) / 1000) {
      const message = `More than ${maxBufferedMs / 1000} s of audio are buffered for voice activity detection. Send audio more slowly.`;
      return Promise.reject(
        new ServiceError('overloaded', message, { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S }),
      );
    }
    return this.#enqueue(samples, false);
  }

  end(): Promise<readonly VadEvent[]> {
    return this.#enqueue(new Float32Array(0), true);
  }

  #enqueue(samples: Float32Samples, last: boolean): Promise<readonly VadEvent[]> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#finished) return Promise.reject(new Error('The stream has ended.'));
    this.#finished = last;
    this.#written += samples.length;
    this.#buffered += samples.length;
    return new Promise((resolve, reject) => {
      this.#calls.push({ samples, last, events: [], resolve, reject, cut: 0, flushed: false });
      if (this.#inBatch === 0) this.#options.onWritten(this);
    });
  }

  /**
   * Returns the next frames to classify, in order. The previous frames must have their probabilities, see
   * {@link applyProbabilities}. Empty if the buffered samples do not complete a frame.
   */
  takeFrames(): readonly CutFrame[] {
    for (const call of this.#calls) {
      while (this.#frames.length < BATCH_FRAMES && this.#cutMore(call));
      if (this.#frames.length >= BATCH_FRAMES) break;
    }
    this.#inBatch = Math.min(this.#frames.length, BATCH_FRAMES);
    return this.#frames.slice(0, this.#inBatch).map(({ frame }) => frame);
  }

  /** Cuts the next slice of a call. Returns false when the call has no more audio to cut. */
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

  /** Applies the results of the frames in the batch. @param probabilities one for each frame with a row. */
  applyProbabilities(probabilities: Iterable<number>): void {
    const values = probabilities[Symbol.iterator]();
    for (const { frame, call } of this.#frames.splice(0, this.#inBatch)) {
      const probability = frame.row ? Number(values.next().value) : 0;
      const step = advanceVad(this.#state, { probability, energies: frame.energies }, this.#options.settings);
      this.#state = step.state;
      for (const event of step.events) call.events.push(this.#atInputRate(event));
    }
    this.#inBatch = 0;
    for (let call = this.#calls[0]; call && this.#isDone(call); call = this.#calls[0]) {
      this.#calls.shift();
      this.#buffered -= call.samples.length;
      call.resolve(call.events);
    }
  }

  /** Whether calls wait for frames that are not classified yet. */
  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  #isDone(call: Call): boolean {
    if (call.cut < call.samples.length || this.#frames[0]?.call === call) return false;
    return !call.last || (call.flushed && this.#state.kind === 'silence');
  }

  /** Converts sample positions from 16 kHz to the input rate, limited to the written samples. */
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

  /** Rejects the pending calls and all later ones. */
  fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    for (const call of this.#calls.splice(0)) call.reject(error);
    this.#free();
  }

  /** Closes the stream. Pending calls resolve without events. */
  close(): void {
    if (this.#failure) return;
    this.#failure = new Error('The stream was closed.');
    for (const call of this.#calls.splice(0)) call.resolve([]);
    this.#free();
  }

  #free(): void {
    this.#frames = [];
    this.#inBatch = 0;
    this.#cutter.close();
    this.#options.onClosed(this);
  }
}
