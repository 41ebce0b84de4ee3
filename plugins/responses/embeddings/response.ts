/** Vectors as the list of POST /v1/embeddings (openai-wire 5). */

import type { Embeddings } from '../../../src/contract/engines/embed.ts';
import type { EmbedAsk } from './schema.ts';

/** Numbers that are written at once: more would hold up whoever else is served. */
const NUMBERS_AT_ONCE = 16_384;

/** The answer's JSON, part by part. */
export async function* embeddingList(
  { vectors, tokens }: Embeddings,
  { model, encoding }: Pick<EmbedAsk, 'model' | 'encoding'>,
): AsyncGenerator<string, void, undefined> {
  let text = '{"object":"list","data":[';
  let numbers = 0;
  for (const [index, vector] of vectors.entries()) {
    const embedding = encoding === 'base64' ? base64Of(vector) : Array.from(vector);
    text += `${index === 0 ? '' : ','}${JSON.stringify({ object: 'embedding', index, embedding })}`;
    numbers += vector.length;
    if (numbers < NUMBERS_AT_ONCE) continue;
    yield text;
    text = '';
    numbers = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  yield `${text}],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
}

/** Little-endian 32-bit floats, which is what the processors that this runs on have. */
function base64Of({ buffer, byteOffset, byteLength }: Float32Array<ArrayBuffer>): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
