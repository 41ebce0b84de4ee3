/**
 * Messages between the pool and a loaded inference process. A process runs one step at a time: `step` is sent only
 * after the previous `step-done` or `step-failed`.
 */

import type { RuntimeOptions } from '../runtime/runtime-options.ts';
import type { ProcessError } from '../workers/process-protocol.ts';

/** What a process loads. `Spec` identifies a model and the paths of its files. */
export interface LoadModels<Spec> {
  readonly runtime: RuntimeOptions;
  readonly models: Readonly<Record<string, Spec>>;
  /** Whether the process runs under SCHED_IDLE. */
  readonly lowPriority: boolean;
}

/** Descriptions of the loaded models, by name in the pool. */
export type ModelDescriptions = Readonly<Record<string, unknown>>;

/** To the inference process. One message per step: sending one takes 0.1 to 0.3 ms, as it wakes the other process. */
export type ToWorker =
  /** Runs one step of the job. Replies: any number of `result`, then one `step-done` or `step-failed`. */
  | {
      readonly kind: 'step';
      readonly job: number;
      /** Present in the first step of the job, which opens it on a loaded model. */
      readonly open?: { readonly model: string; readonly request: unknown };
    }
  /** Closes the job after its running step, if any. Has no reply. */
  | { readonly kind: 'close'; readonly job: number };

/** From the inference process. */
export type FromWorker =
  | { readonly kind: 'result'; readonly job: number; readonly result: unknown }
  /** The step finished. `done`: it was the last step, and the job is closed. */
  | {
      readonly kind: 'step-done';
      readonly job: number;
      readonly done: boolean;
      /** The last result of the step; absent if the step has no result. */
      readonly result?: unknown;
    }
  /** The step threw, and the job is closed. */
  | { readonly kind: 'step-failed'; readonly job: number; readonly error: ProcessError };
