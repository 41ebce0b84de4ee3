/** What is known of a voice from a recording of it. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { SpeakerPrint, VoiceWork } from '../../../contract/engines/voice.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import type { InferencePool } from '../../pool/inference-pool.ts';
import { EMBEDDING_SIZE } from '../import/graph.ts';
import type { SpeakerRequest, SpeakerResult } from '../shared/protocol.ts';

/**
 * Listens to a voice.
 * @param model name of the speaker encoder in the pool.
 * @param samples mono at `rateHz`, not empty.
 * @throws what {@link InferencePool.runJob} throws.
 */
export async function voicePrint(
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
      for (let at = 0; at < result.embeddings.length; at += EMBEDDING_SIZE) {
        partials.push(result.embeddings.subarray(at, at + EMBEDDING_SIZE));
      }
    }
  }
  return { embedding: meanDirection(partials), partials, pitchHz };
}

/** The mean of vectors, at length 1. */
export function meanDirection(vectors: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const sum = new Float32Array(EMBEDDING_SIZE);
  for (const vector of vectors) {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
  }
  return unitVector(sum);
}

/** Cosine of two vectors of length 1. */
export function likeness(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
