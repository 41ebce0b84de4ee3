/** Speech as server-sent events, as OpenAI's API sends it with `stream_format` `sse`. */

import { sseError, sseEvent } from '../../../src/http/response/sse.ts';
import type { SpeechTokens } from '../../../src/usage/usage-meters.ts';

/** Audio per event: 0.7 s of samples. Clients decode each event for itself. */
const MAX_EVENT_BYTES = 32_768;

/**
 * Sends audio in events `speech.audio.delta`, whose bytes join to the file or the samples, and ends with
 * `speech.audio.done`, or with an error event after a failure.
 * @param tokens called when the audio is complete.
 * @param onFailure called with an error of `chunks`.
 */
export async function* speechEvents(
  chunks: AsyncIterable<Uint8Array>,
  tokens: () => SpeechTokens,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += MAX_EVENT_BYTES) {
        const audio = chunk.subarray(at, at + MAX_EVENT_BYTES).toBase64();
        yield sseEvent({ type: 'speech.audio.delta', audio });
      }
    }
    const { input, output } = tokens();
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    yield sseEvent({ type: 'speech.audio.done', usage });
  } catch (error) {
    onFailure(error);
    yield sseError(error);
  }
}
