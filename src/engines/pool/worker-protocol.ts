/**
 * Messages between the pool and a loaded inference process. One pass runs at a time in a process: `next`
 * is sent only after the previous `passed` or `failed`.
 */

import type { ProcessFault } from '../workers/process-protocol.ts';
import type { RuntimeOptions } from './model.ts';

/** What a process loads. `Spec` says what a model is and where its files are. */
export interface LoadModels<Spec> {
  readonly runtime: RuntimeOptions;
  readonly models: Readonly<Record<string, Spec>>;
  /** Whether it leaves the cores to all others. */
  readonly nice: boolean;
}

/** What the loaded models tell of themselves, by model id. */
export type ModelDescriptions = Readonly<Record<string, unknown>>;

/** To the inference process. */
export type ToWorker =
  /** Begins job `job` on a loaded model; runs nothing yet. */
  | { readonly kind: 'open'; readonly job: number; readonly model: string; readonly request: unknown }
  /** Runs one pass of the job; answered by any number of `result` and then one `passed` or `failed`. */
  | { readonly kind: 'next'; readonly job: number }
  /** Forgets the job after the pass that may be running. Never answered. */
  | { readonly kind: 'close'; readonly job: number };

/** From the inference process. */
export type FromWorker =
  | { readonly kind: 'result'; readonly job: number; readonly result: unknown }
  /** The pass is over; `done` when it was the job's last, which also forgets the job. */
  | { readonly kind: 'passed'; readonly job: number; readonly done: boolean }
  /** The pass threw, which also forgets the job. */
  | { readonly kind: 'failed'; readonly job: number; readonly fault: ProcessFault };
