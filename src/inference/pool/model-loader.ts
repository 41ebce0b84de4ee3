/** What an inference process loads. Each engine with models in the pool has a loader. */

import type { RuntimeOptions } from '../runtime/runtime-options.ts';
import type { StepModel } from './model.ts';

/** Describes a model that an inference process loads. Plain data, sent to the process as a message. */
export interface PoolSpec {
  /** The loader. */
  readonly kind: string;
}

/** A model whose request and result types are known to its engine only. */
export type AnyModel = StepModel<unknown, unknown, unknown>;

/** Loads models of one kind in an inference process. */
export interface ModelLoader<Spec extends PoolSpec = PoolSpec> {
  readonly kind: Spec['kind'];
  /**
   * Throws an error whose message is meant for the operator.
   * @param onImport is called when the files of the model are converted, which happens once on a machine.
   */
  load(spec: Spec, runtime: RuntimeOptions, onImport: () => void): Promise<AnyModel>;
}

/** Infers the type of the specs of a loader. */
export function defineLoader<Spec extends PoolSpec>(loader: ModelLoader<Spec>): ModelLoader<Spec> {
  return loader;
}
