import { WAV_HEADER_BYTES, wavHeader } from '../../../src/audio/wav.ts';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { ByteBudget, type ByteShare } from '../../../src/kit/limits/byte-budget.ts';
import type { Speech } from '../../../src/speak/speech-requests.ts';

/**
 * The `wav` responses of one API key, and of all keys, until the clients have read them: one or two of the maximum length. Short
 * responses are not counted any more when they are complete.
 */
const LIMITS = { bytesPerKey: 288 * 2 ** 20, totalBytes: 768 * 2 ** 20 };
const RETRY_AFTER_S = 10;

/** Limits the memory of `wav` responses, which are sent when they are complete. */
export function wavBudget(limits = LIMITS): ByteBudget {
  const error = (message: string) =>
    new ServiceError('overloaded', `${message} Retry later, or use 'pcm', which is streamed.`, {
      code: 'server_overloaded',
      retryAfterS: RETRY_AFTER_S,
    });
  return new ByteBudget(limits, {
    overKeyLimit: (bytes) => error(`The wav responses of this API key have more than ${bytes} bytes.`),
    overTotalLimit: () =>
      error('The wav responses of all API keys use the memory that is reserved for them.'),
  });
}

export interface WavBody {
  readonly lengthBytes: number;
  readonly chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>;
}

/**
 * Collects speech at 24 kHz in a WAV file.
 * @param maxS maximum length of the audio, in seconds. Longer speech is stopped.
 * @param share counts the bytes. The caller ends it.
 * @throws ServiceError `invalid_request` if the audio is too long; the errors of the budget and of the synthesis.
 */
export async function wavBody({ audio }: Speech, maxS: number, share: ByteShare): Promise<WavBody> {
  const maxBytes = maxS * SPEECH_RATE_HZ * 2;
  const collected: Uint8Array<ArrayBuffer>[] = [];
  let dataBytes = 0;
  const keep = (chunk: Uint8Array<ArrayBuffer>) => {
    share.add(chunk.length);
    collected.push(chunk);
    dataBytes += chunk.length;
    if (dataBytes > maxBytes) throw audioTooLong();
  };
  for (let next = await audio.next(); !next.done; next = await audio.next()) {
    try {
      keep(next.value);
    } catch (error) {
      // Fails the call, and throws the error.
      await audio.throw(error);
    }
  }
  return { lengthBytes: WAV_HEADER_BYTES + dataBytes, chunks: wavChunks(collected, dataBytes) };
}

async function* wavChunks(
  collected: readonly Uint8Array<ArrayBuffer>[],
  dataBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  yield wavHeader(dataBytes, SPEECH_RATE_HZ);
  yield* collected;
}

function audioTooLong(): ServiceError {
  return invalidRequest(
    "'input' produces more audio than a wav response can contain; split it, or use 'pcm'.",
    'input',
  );
}
