/** One synthesis in the pool: its place in the schedule and the audio that waits for its consumer. */

import type { Float32Samples } from '../contract/audio.ts';
import type { Priority, SynthesisRequest } from '../contract/engine.ts';
import type { PassRequest } from './pass-model.ts';
import type { WaitingJob } from './pass-schedule.ts';

/**
 * Audio that may wait for a consumer before its job stops being run, in ms. A reader that does not read
 * holds this much plus one pass.
 */
export const PREFETCH_MS = 4_000;

export class PassJob implements WaitingJob {
  readonly priority: Priority;
  readonly delivery: SynthesisRequest['delivery'];
  readonly aheadMs: number;
  readonly request: PassRequest;
  servedMs: number | undefined;
  firstAudioMs: number | undefined;
  audioMs = 0;
  /** A pass is running in the inference process. */
  running = false;

  #buffer: Float32Samples[] = [];
  #bufferedMs = 0;
  #end: 'open' | 'done' | { readonly error: unknown } = 'open';
  #wake: (() => void) | undefined;

  constructor(
    readonly id: number,
    readonly model: string,
    request: SynthesisRequest,
    readonly rateHz: number,
    readonly arrivedMs: number,
  ) {
    this.priority = request.priority;
    this.delivery = request.delivery;
    this.aheadMs = Math.max(0, request.aheadMs ?? 0);
    const { text, voice, speed, delivery } = request;
    this.request = { text, voice, speed, delivery };
  }

  /** Whether its next pass could run now. */
  get runnable(): boolean {
    return this.#end === 'open' && !this.running && this.#bufferedMs < PREFETCH_MS;
  }

  /** Whether it can still bring audio or an end. */
  get open(): boolean {
    return this.#end === 'open';
  }

  /** Takes audio of a pass; ignored once the job has ended. */
  push(samples: Float32Samples, nowMs: number): void {
    if (!this.open) return;
    const lengthMs = this.#lengthMs(samples);
    this.firstAudioMs ??= nowMs;
    this.audioMs += lengthMs;
    this.#bufferedMs += lengthMs;
    this.#buffer.push(samples);
    this.#signal();
  }

  /** No more audio comes; what is buffered can still be pulled. */
  finish(): void {
    if (!this.open) return;
    this.#end = 'done';
    this.#signal();
  }

  /** Ends the job; buffered audio is dropped and the next pull throws `error`. */
  fail(error: unknown): void {
    if (!this.open) return;
    this.#end = { error };
    this.#buffer = [];
    this.#signal();
  }

  /** The next run of samples, or undefined after the last. One caller at a time. */
  async pull(): Promise<Float32Samples | undefined> {
    while (this.#buffer.length === 0 && this.open) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (typeof this.#end === 'object') throw this.#end.error;
    const samples = this.#buffer.shift();
    if (samples) this.#bufferedMs -= this.#lengthMs(samples);
    return samples;
  }

  #lengthMs(samples: Float32Samples): number {
    return (samples.length * 1000) / this.rateHz;
  }

  #signal(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
