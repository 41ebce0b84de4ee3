/** Serializes vectors as the list of POST /v1/embeddings (openai-wire 5). */

import type { Embeddings } from '../../../src/contract/engines/embed.ts';
import type { EmbedParams } from './schema.ts';

/** Maximum number of values serialized without yielding to the event loop. */
const CHUNK_NUMBERS = 16_384;

/** Whether the response is a single part. A stream for it would only add latency. */
export function isOnePart({ vectors }: Pick<Embeddings, 'vectors'>): boolean {
  return vectors.reduce((sum, { length }) => sum + length, 0) < CHUNK_NUMBERS;
}

/** Yields the JSON text of the response in parts. */
export async function* embeddingList(
  { vectors, tokens }: Embeddings,
  { model, encoding }: Pick<EmbedParams, 'model' | 'encoding'>,
): AsyncGenerator<string, void, undefined> {
  let text = '{"object":"list","data":[';
  let numbers = 0;
  for (const [index, vector] of vectors.entries()) {
    const embedding = encoding === 'base64' ? toBase64(vector) : Array.from(vector);
    text += `${index === 0 ? '' : ','}${JSON.stringify({ object: 'embedding', index, embedding })}`;
    numbers += vector.length;
    if (numbers < CHUNK_NUMBERS) continue;
    yield text;
    text = '';
    numbers = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  yield `${text}],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
}

/** The bytes of the vector in native order, which is little-endian on all supported processors. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array<ArrayBuffer>): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
