/** Service of POST /v1/embeddings: computes the vectors of a validated request and bills them. */

import type { Embeddings, EmbedEngine, EmbedRequest } from '../../../src/contract/engines/embed.ts';
import type { OperationContext } from '../../../src/contract/engines/operation.ts';
import { type ModelTable, requireModel } from '../../../src/contract/model-table.ts';
import { startRequest } from '../../../src/generate/start-request.ts';
import type { OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { billedResult } from '../../../src/usage/billed.ts';
import type { EmbedParams } from './schema.ts';
import { withTexts } from './token-text.ts';

/** Maximum number of tokens that a model adds to each input. */
const ENCLOSING_TOKENS = 2;

export interface EmbeddingServiceDeps {
  readonly embed: ModelTable<EmbedEngine>;
  readonly open: OpenRequests;
}

export class EmbeddingService {
  readonly #deps: EmbeddingServiceDeps;

  constructor(deps: EmbeddingServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the vectors of all inputs. The usage row is stored first.
   * @throws ServiceError `invalid_request` for an unknown model; `rate_limited` if the organization has too
   *   many open requests; `insufficient_quota`. Also throws the errors of the engine, and the reason of the
   *   signal after an abort.
   */
  async embed(
    { model, request }: Pick<EmbedParams, 'model' | 'request'>,
    context: OperationContext,
    signal: AbortSignal,
  ): Promise<Embeddings> {
    const { embed, open } = this.#deps;
    const { caller, calls, priority } = context;
    const engine = requireModel(embed, model);
    const inputs = engine.tokenIds === 'model' ? request.inputs : await withTexts(request.inputs);
    const job = startRequest(open, context, signal);
    try {
      const maxUsage = { inputTokens: maxTokenUsage(inputs, engine), outputTokens: 0 };
      const work = { ...request, inputs, priority, fairnessKey: caller.keyId };
      return await billedResult(
        { calls, caller, model, endpoint: 'POST /v1/embeddings', maxUsage },
        // A request without a result is not charged.
        (result) => ({ inputTokens: result?.tokens ?? 0, outputTokens: 0 }),
        () => engine.embed(work, job.signal),
        job.signal,
      );
    } finally {
      job.end();
    }
  }
}

/** Returns the maximum number of tokens of the inputs: a token has at least one byte. */
function maxTokenUsage(inputs: EmbedRequest['inputs'], { maxTokens }: EmbedEngine): number {
  const inputTokens = inputs.map((input) => {
    const tokens = typeof input === 'string' ? Buffer.byteLength(input) : input.length;
    return Math.min(tokens + ENCLOSING_TOKENS, maxTokens ?? Number.POSITIVE_INFINITY);
  });
  return inputTokens.reduce((sum, tokens) => sum + tokens, 0);
}
