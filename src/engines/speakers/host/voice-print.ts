/** Computes the speaker print of a recording with the speaker encoder. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { SpeakerPrint, VoiceWork } from '../../../contract/engines/voice.ts';
import type { InferencePool } from '../../../inference/pool/inference-pool.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import { EMBEDDING_SIZE } from '../import/graph.ts';
import type { SpeakerRequest, SpeakerResult } from '../shared/protocol.ts';

/**
 * Computes the embeddings and the median pitch of a voice.
 * @param model name of the speaker encoder in the pool.
 * @param samples mono at `rateHz`, not empty.
 * @throws the errors of {@link InferencePool.runJob}.
 */
export async function encodeVoice(
  pool: Pick<InferencePool, 'runJob'>,
  model: string,
  { samples, rateHz }: SpeakerRequest,
  work: VoiceWork,
  signal: AbortSignal,
): Promise<SpeakerPrint> {
  const partials: Float32Samples[] = [];
  let pitchHz: number | undefined;
  const job = { request: { samples, rateHz }, ...work, delivery: 'text' } as const;
  for await (const result of pool.runJob<SpeakerRequest, SpeakerResult>(model, job, signal)) {
    if (result.kind === 'pitch') pitchHz = result.hz;
    else {
      for (let start = 0; start < result.embeddings.length; start += EMBEDDING_SIZE) {
        partials.push(result.embeddings.subarray(start, start + EMBEDDING_SIZE));
      }
    }
  }
  return { embedding: meanDirection(partials), partials, pitchHz };
}

/** The mean of vectors, normalized to length 1. */
export function meanDirection(vectors: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const sum = new Float32Array(EMBEDDING_SIZE);
  for (const vector of vectors) {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
  }
  return unitVector(sum);
}

/** Cosine similarity of two vectors of length 1. */
export function cosineSimilarity(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
