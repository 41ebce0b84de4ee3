import { ServiceError } from './core/error.ts';

/** Engines of one capability, keyed by the model id that clients send. */
export interface ModelTable<Engine> {
  /** Model ids, in the order of CONFIG. */
  readonly ids: readonly string[];
  /** Returns the engine of a model id, or undefined if CONFIG does not define the model. */
  get(id: string): Engine | undefined;
}

/**
 * Returns the engine of the model that a request names.
 * @throws ServiceError `invalid_request` (`model_not_found`) if CONFIG does not define the model.
 */
export function requireModel<Engine>(models: ModelTable<Engine>, id: string): Engine {
  const engine = models.get(id);
  if (engine === undefined) throw unknownModel(models.ids, 'invalid_request');
  return engine;
}

/** Creates the error for a model id that CONFIG does not define. */
export function unknownModel(ids: readonly string[], kind: 'not_found' | 'invalid_request'): ServiceError {
  return new ServiceError(kind, `Unknown model; available models: ${ids.join(', ')}.`, {
    param: 'model',
    code: 'model_not_found',
  });
}
