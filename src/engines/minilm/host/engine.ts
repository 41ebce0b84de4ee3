/** Embedding engine for all-MiniLM-L6-v2, which batches the inputs of concurrent requests. */

import { invalidRequest, type ServiceError } from '../../../contract/core/error.ts';
import type { InferenceSettings } from '../../../contract/core/settings.ts';
import type { Embeddings, EmbedEngine, EmbedRequest } from '../../../contract/engines/embed.ts';
import type { InferencePool } from '../../../inference/pool/inference-pool.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import type { MinilmDescription, MinilmRequest, MinilmResult } from '../shared/protocol.ts';
import { InputBatches, InputTooLongError } from './input-batches.ts';

export type MinilmEngineSettings = Pick<InferenceSettings, 'workers' | 'queueLimit'> &
  Pick<EmbedEngine, 'tokenIds'>;

/**
 * @param pool must outlive the engine.
 * @param model name of the model in the pool.
 * @param settings of the model and the pool. Each worker processes one batch at a time.
 * @param backgroundPool low-priority pool for batch requests; must outlive the engine.
 */
export function minilmEngine(
  pool: InferencePool,
  model: string,
  { workers, queueLimit, tokenIds }: MinilmEngineSettings,
  backgroundPool: Pick<InferencePool, 'runJob'> = pool,
): EmbedEngine {
  const description = pool.description<MinilmDescription>(model);
  const batches = new InputBatches(workers, queueLimit, (inputs, { priority, fairnessKey }, signal) =>
    (priority === 'batch' ? backgroundPool : pool).runJob<MinilmRequest, MinilmResult>(
      model,
      { request: { inputs }, priority, fairnessKey, delivery: 'text' },
      signal,
    ),
  );
  return {
    maxTokens: description.maxTokens,
    tokenIds,
    async embed(request, signal): Promise<Embeddings> {
      signal.throwIfAborted();
      validateRequest(request, description);
      const { dimensions = description.dimensions } = request;
      const embedded = await batches.embed(request, signal).catch((error: unknown) => {
        throw error instanceof InputTooLongError
          ? inputTooLongError(request, error.index, description.maxTokens)
          : error;
      });
      return {
        vectors: embedded.map(({ vector }) =>
          dimensions < vector.length ? unitVector(vector.slice(0, dimensions)) : vector,
        ),
        tokens: embedded.reduce((sum, { tokens }) => sum + tokens, 0),
      };
    },
    ready: () => pool.ready(),
    async close() {
      batches.close();
    },
  };
}

function validateRequest(
  { inputs, dimensions = 1 }: EmbedRequest,
  { dimensions: maxDimensions, vocabularySize }: MinilmDescription,
): void {
  if (dimensions > maxDimensions) {
    const message = `'dimensions' must be an integer from 1 to ${maxDimensions} for this model.`;
    throw invalidRequest(message, 'dimensions', 'invalid_value');
  }
  const isKnown = (id: number) => Number.isInteger(id) && id >= 0 && id < vocabularySize;
  for (const [index, input] of inputs.entries()) {
    if (typeof input === 'string' || input.every(isKnown)) continue;
    const field = fieldOf(inputs, index);
    throw invalidRequest(
      `'${field}' must contain token ids of this model, which are in the range 0 to ${vocabularySize - 1}.`,
      field,
      'invalid_value',
    );
  }
}

function inputTooLongError({ inputs }: EmbedRequest, index: number, maxTokens: number): ServiceError {
  const field = fieldOf(inputs, index);
  const message = `'${field}' must have at most ${maxTokens} tokens for this model.`;
  return invalidRequest(message, field, 'context_length_exceeded');
}

function fieldOf(inputs: EmbedRequest['inputs'], index: number): string {
  return inputs.length === 1 ? 'input' : `input.${index}`;
}
