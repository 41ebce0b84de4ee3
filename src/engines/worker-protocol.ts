/**
 * Messages between the serving process and an inference process. Structured clone carries them, so they
 * are plain data. One pass runs at a time in a process: `next` is sent only after the previous `passed`
 * or `failed`.
 */

import type { Float32Samples } from '../contract/audio.ts';
import type { PassRequest, RuntimeOptions } from './pass-model.ts';

/** To the inference process. `Spec` says what a model is and where its files are. */
export type ToWorker<Spec> =
  | {
      readonly kind: 'load';
      readonly runtime: RuntimeOptions;
      readonly models: Readonly<Record<string, Spec>>;
    }
  /** Begins job `job` on a loaded model; runs nothing yet. */
  | { readonly kind: 'open'; readonly job: number; readonly model: string; readonly request: PassRequest }
  /** Runs one pass of the job; answered by any number of `samples` and then one `passed` or `failed`. */
  | { readonly kind: 'next'; readonly job: number }
  /** Forgets the job after the pass that may be running. Never answered. */
  | { readonly kind: 'close'; readonly job: number };

/** From the inference process. */
export type FromWorker =
  /** Can take a `load`. */
  | { readonly kind: 'up' }
  /** Every model is loaded and warm; `rateHz` gives the sample rate of each. */
  | { readonly kind: 'loaded'; readonly rateHz: Readonly<Record<string, number>> }
  | { readonly kind: 'load-failed'; readonly fault: WorkerFault }
  | { readonly kind: 'samples'; readonly job: number; readonly samples: Float32Samples }
  /** The pass is over; `done` when it was the job's last, which also forgets the job. */
  | { readonly kind: 'passed'; readonly job: number; readonly done: boolean }
  /** The pass threw, which also forgets the job. */
  | { readonly kind: 'failed'; readonly job: number; readonly fault: WorkerFault };

/** An exception as it crosses: for the log of the serving process, never for a caller. */
export interface WorkerFault {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

/** Makes an exception into plain data. */
export function toFault(error: unknown): WorkerFault {
  if (error instanceof Error) return { name: error.name, message: error.message, stack: error.stack };
  return { name: 'Error', message: String(error) };
}

/** The reverse of {@link toFault}. */
export function fromFault(fault: WorkerFault): Error {
  const error = new Error(fault.message);
  error.name = fault.name;
  if (fault.stack !== undefined) error.stack = fault.stack;
  return error;
}
