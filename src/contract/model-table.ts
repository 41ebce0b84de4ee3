import { ServiceError } from './core/error.ts';
import { quotedName, similarNameHint } from './core/nearest-name.ts';
import type { SpeechCompatibility } from './core/settings.ts';

/** Engines of one capability, keyed by the model id that clients send. */
export interface ModelTable<Engine> {
  /** Model ids, in the order of CONFIG. */
  readonly ids: readonly string[];
  /** Returns the engine of a model id, or undefined if CONFIG does not define the model. */
  get(id: string): Engine | undefined;
}

/** What is behind a model id. */
export interface ModelEngine {
  /** `kind` of CONFIG. */
  readonly kind: string;
  /** Name of the weights; absent if there is only one choice, and for files of the operator. */
  readonly weights?: string;
  /** Only of speech models. */
  readonly compatibility?: SpeechCompatibility;
  /** Only of speech models: ids of the models that speak a language instead, by BCP 47 tag. */
  readonly languages?: Readonly<Record<string, string>>;
}

/** The files of a model that runs on this machine. Fields are absent while they are unknown. */
export interface ModelFiles {
  readonly sizeBytes?: number;
  /** SPDX expression, or as the card of a Piper voice names it. */
  readonly licence?: string;
  /** Only of language models: memory of the loaded weights and of the key-value cache. */
  readonly memoryBytes?: number;
}

/**
 * Returns the engine of the model that a request names.
 * @throws ServiceError `invalid_request` (`model_not_found`) if CONFIG does not define the model.
 */
export function requireModel<Engine>(models: ModelTable<Engine>, id: string): Engine {
  const engine = models.get(id);
  if (engine === undefined) throw unknownModel(id, models.ids, 'invalid_request');
  return engine;
}

/** Known models of other services that this service does not offer by default, and why. */
const NOT_OFFERED: ReadonlyMap<string, string> = new Map([
  ['gpt-4o-transcribe-diarize', ' Diarization (who spoke when) is not offered yet.'],
]);

/**
 * Creates the error for a model id that CONFIG does not define.
 * @param ids the models that the request could use.
 */
export function unknownModel(
  id: string,
  ids: readonly string[],
  kind: 'not_found' | 'invalid_request',
): ServiceError {
  const shown = quotedName(id);
  const section = `[models.${shown === '' ? '"NAME"' : JSON.stringify(id)}]`;
  const reason = NOT_OFFERED.get(id) ?? '';
  const message = `Unknown model${shown}.${reason}${similarNameHint(id, ids)} Available models: ${ids.join(', ')}. The operator adds models as ${section} in CONFIG.`;
  return new ServiceError(kind, message, { param: 'model', code: 'model_not_found' });
}
