import { streamedWavHeader } from '../../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { AudioEncoding } from '../../../src/contract/engines/audio-encoder.ts';
import { started } from '../../../src/kit/async/started.ts';
import type { Speech } from '../../../src/speak/speech-requests.ts';

/** The bytes of a response. */
export type AudioBody = AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>;

/** Starts a WAV file that is sent while it grows, so its header does not have its length. */
export async function streamedWav(speech: Speech): Promise<AudioBody> {
  const chunks = wavChunks(speech);
  // An iteration that has not started would not stop the synthesis when it is returned.
  return (await started(chunks)) ?? chunks;
}

async function* wavChunks({ audio }: Speech): AudioBody {
  let header = streamedWavHeader(SPEECH_RATE_HZ);
  for await (const chunk of audio) {
    yield header.length === 0 ? chunk : Uint8Array.from(Buffer.concat([header, chunk]));
    header = header.subarray(header.length);
  }
}

/**
 * Starts an encoded file: resolves when its first bytes exist, so that an earlier failure can be reported as an HTTP status. A failure of
 * the encoder fails the call.
 * @param encoding is closed with the last chunk, and when the iteration ends early.
 * @throws the errors of the synthesis and of the encoder.
 */
export async function encodedBody(speech: Speech, encoding: AudioEncoding): Promise<AudioBody> {
  const chunks = encodedChunks(speech, encoding);
  return (await started(chunks)) ?? chunks;
}

/** Yields chunks that are not empty. Pulls the next samples when the bytes of the previous ones have been consumed. */
async function* encodedChunks({ audio }: Speech, encoding: AudioEncoding): AudioBody {
  const bytesOf = async (encode: () => Promise<Uint8Array<ArrayBuffer>>) => {
    try {
      return await encode();
    } catch (error) {
      // Ends the synthesis, and throws the error unless it has ended.
      await audio.throw(error);
      throw error;
    }
  };
  try {
    for (let next = await audio.next(); !next.done; next = await audio.next()) {
      const pcm = next.value;
      const bytes = await bytesOf(() => encoding.encode(pcm));
      if (bytes.length > 0) yield bytes;
    }
    const end = await encoding.finish();
    if (end.length > 0) yield end;
  } finally {
    encoding.close();
    await audio.return();
  }
}
