import { streamedWavHeader } from '../../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { AudioEncoding } from '../../../src/contract/engines/audio-encoder.ts';
import type { StartedSpeech } from '../../../src/speak/speech-requests.ts';

/** The first bytes of a body, which exist before its response starts, and the others. */
export interface StartedBody {
  readonly first: Uint8Array<ArrayBuffer>;
  readonly rest: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>;
}

/** A WAV file that is sent while it grows, so its header does not have its length. */
export function streamedWav({ first, rest }: StartedSpeech): StartedBody {
  return { first: Uint8Array.from(Buffer.concat([streamedWavHeader(SPEECH_RATE_HZ), first])), rest };
}

/**
 * Starts an encoded file: resolves with its first bytes, so that an earlier failure can be reported as an HTTP status. A failure of the
 * encoder fails the call.
 * @param encoding is closed with the last chunk, and when the iteration ends early.
 * @throws the errors of the synthesis and of the encoder.
 */
export async function encodedBody(speech: StartedSpeech, encoding: AudioEncoding): Promise<StartedBody> {
  const rest = encodedChunks(speech, encoding);
  const { value } = await rest.next();
  return { first: value ?? new Uint8Array(), rest };
}

/** Yields chunks that are not empty. Pulls the next samples when the bytes of the previous ones have been consumed. */
async function* encodedChunks(
  { first, rest }: StartedSpeech,
  encoding: AudioEncoding,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const bytesOf = async (encode: () => Promise<Uint8Array<ArrayBuffer>>) => {
    try {
      return await encode();
    } catch (error) {
      // Ends the synthesis, and throws the error unless it has ended.
      await rest.throw(error);
      throw error;
    }
  };
  try {
    for (let pcm = first; ; ) {
      const bytes = await bytesOf(() => encoding.encode(pcm));
      if (bytes.length > 0) yield bytes;
      const next = await rest.next();
      if (next.done) break;
      pcm = next.value;
    }
    const end = await encoding.finish();
    if (end.length > 0) yield end;
  } finally {
    encoding.close();
    await rest.return();
  }
}
