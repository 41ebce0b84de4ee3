/** The service behind POST /v1/embeddings: from a checked request to vectors and a usage row. */

import type { Embeddings, EmbedEngine, EmbedRequest } from '../../../src/contract/engines/embed.ts';
import type { OperationContext } from '../../../src/contract/engines/operation.ts';
import { type ModelTable, requireModel } from '../../../src/contract/model-table.ts';
import type { OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import { beginWork, isRefusal } from '../shared/text-call.ts';
import type { EmbedAsk } from './schema.ts';

/** What a model may add to each input. */
const ENCLOSING_TOKENS = 2;

export interface EmbedderParts {
  readonly embed: ModelTable<EmbedEngine>;
  readonly open: OpenRequests;
}

export class Embedder {
  readonly #parts: EmbedderParts;

  constructor(parts: EmbedderParts) {
    this.#parts = parts;
  }

  /**
   * Vectors of all inputs; the usage row is stored before they come.
   * @throws ServiceError: `invalid_request` for an unknown model; `rate_limited` when the organization has too
   *   many requests open; `insufficient_quota`; what the engine throws; the signal's reason after an abort.
   */
  async embed(
    { model, request }: Pick<EmbedAsk, 'model' | 'request'>,
    order: OperationContext,
    signal: AbortSignal,
  ): Promise<Embeddings> {
    const { embed, open } = this.#parts;
    const { caller, calls, priority } = order;
    const engine = requireModel(embed, model);
    const job = beginWork(open, order, signal);
    try {
      const call = await calls.openCall({
        endpoint: 'POST /v1/embeddings',
        model,
        caller,
        maxUsage: { inputTokens: mostTokens(request.inputs, engine), outputTokens: 0 },
      });
      const work = { ...request, priority, fairnessKey: caller.keyId };
      try {
        const embeddings = await engine.embed(work, job.signal);
        await call.close({ status: 'completed', inputTokens: embeddings.tokens, outputTokens: 0 });
        return embeddings;
      } catch (error) {
        const left = job.signal.aborted;
        if (!left && isRefusal(error)) await call.discard();
        else {
          // Whoever gets no vectors pays for none.
          await call.close({ status: left ? 'cancelled' : 'failed', inputTokens: 0, outputTokens: 0 });
        }
        throw error;
      }
    } finally {
      job.end();
    }
  }
}

/** Most tokens that inputs may have: no token is shorter than a byte. */
function mostTokens(inputs: EmbedRequest['inputs'], { maxTokens }: EmbedEngine): number {
  const most = inputs.map((input) => {
    const tokens = typeof input === 'string' ? Buffer.byteLength(input) : input.length;
    return Math.min(tokens + ENCLOSING_TOKENS, maxTokens ?? Number.POSITIVE_INFINITY);
  });
  return most.reduce((sum, tokens) => sum + tokens, 0);
}
