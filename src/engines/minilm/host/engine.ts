/** all-MiniLM-L6-v2 as an engine: inputs of all requests that wait at the same time go to the pool together. */

import { invalidRequest, type ServiceError } from '../../../contract/core/error.ts';
import type { InferenceSettings } from '../../../contract/core/settings.ts';
import type { Embeddings, EmbedEngine, EmbedRequest } from '../../../contract/engines/embed.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import type { InferencePool } from '../../pool/inference-pool.ts';
import type { MinilmDescription, MinilmRequest, MinilmResult } from '../shared/protocol.ts';
import { InputBatches, InputTooLong } from './input-batches.ts';

/**
 * @param model name in the pool, which outlives the engine.
 * @param settings of the pool: each of its processes works on one batch at once.
 * @param backgroundPool where that is done which nobody waits for; it outlives the engine, too.
 */
export function minilmEngine(
  pool: InferencePool,
  model: string,
  { workers, queueLimit }: Pick<InferenceSettings, 'workers' | 'queueLimit'>,
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
    async embed(request, signal): Promise<Embeddings> {
      signal.throwIfAborted();
      refuseImpossible(request, description);
      const { dimensions = description.dimensions } = request;
      const embedded = await batches.embed(request, signal).catch((error: unknown) => {
        throw error instanceof InputTooLong ? tooLong(request, error.place, description.maxTokens) : error;
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

function refuseImpossible(
  { inputs, dimensions = 1 }: EmbedRequest,
  { dimensions: most, vocabularySize }: MinilmDescription,
): void {
  if (dimensions > most) {
    const message = `'dimensions' must be an integer from 1 to ${most} for this model.`;
    throw invalidRequest(message, 'dimensions', 'invalid_value');
  }
  const known = (id: number) => Number.isInteger(id) && id >= 0 && id < vocabularySize;
  for (const [place, input] of inputs.entries()) {
    if (typeof input === 'string' || input.every(known)) continue;
    const field = fieldOf(inputs, place);
    throw invalidRequest(
      `'${field}' must hold token ids of this model, which are from 0 to ${vocabularySize - 1}.`,
      field,
      'invalid_value',
    );
  }
}

function tooLong({ inputs }: EmbedRequest, place: number, most: number): ServiceError {
  const field = fieldOf(inputs, place);
  const message = `'${field}' must have at most ${most} tokens for this model.`;
  return invalidRequest(message, field, 'context_length_exceeded');
}

function fieldOf(inputs: EmbedRequest['inputs'], place: number): string {
  return inputs.length === 1 ? 'input' : `input.${place}`;
}
