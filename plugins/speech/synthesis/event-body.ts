/** Speech as server-sent events, as OpenAI's API sends it with `stream_format` `sse`. */

import { sseError, sseEvent } from '../../../src/http/response/sse.ts';
import type { SpeechTokens } from '../../../src/usage/usage-meters.ts';
import type { TimedWords } from './timed-words.ts';

/** Audio per event: 0.7 s of samples. Clients decode each event for itself. */
const MAX_EVENT_BYTES = 32_768;

/**
 * Sends audio in events `speech.audio.delta`, whose bytes join to the file or the samples, and ends with
 * `speech.audio.done`, or with an error event after a failure. Words are sent in events `speech.audio.words`, before the audio that
 * was yielded after them; marks of SSML in events `speech.audio.marks`.
 * @param words words with times, as they become known.
 * @param tokens called when the audio is complete.
 * @param onFailure called with an error of `chunks`.
 */
export async function* speechEvents(
  chunks: AsyncIterable<Uint8Array>,
  words: TimedWords,
  tokens: () => SpeechTokens,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  try {
    for await (const chunk of chunks) {
      yield* wordEvents(words);
      for (let at = 0; at < chunk.length; at += MAX_EVENT_BYTES) {
        const audio = chunk.subarray(at, at + MAX_EVENT_BYTES).toBase64();
        yield sseEvent({ type: 'speech.audio.delta', audio });
      }
    }
    yield* wordEvents(words);
    yield sseEvent({ type: 'speech.audio.done', usage: usageOf(tokens()) });
  } catch (error) {
    onFailure(error);
    yield sseError(error);
  }
}

function* wordEvents(words: TimedWords): Generator<Uint8Array<ArrayBuffer>> {
  const known = words.take();
  if (known.length > 0) yield sseEvent({ type: 'speech.audio.words', words: known });
  const marks = words.takeMarks();
  if (marks.length > 0) yield sseEvent({ type: 'speech.audio.marks', marks });
}

/** The wire form of the usage. */
export function usageOf({ input, output }: SpeechTokens) {
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}
