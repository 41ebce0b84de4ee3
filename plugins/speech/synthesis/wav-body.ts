import { WAV_HEADER_BYTES, wavHeader } from '../../../src/audio/wav.ts';
import { invalidRequest, type ServiceError } from '../../../src/contract/core/error.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { StartedSpeech } from '../../../src/speak/speech-requests.ts';

/**
 * Collects speech at 24 kHz in a WAV file.
 * @param maxS maximum length of the audio, in seconds. Longer speech is stopped.
 * @throws ServiceError `invalid_request` if the audio is too long; the errors of the synthesis.
 */
export async function wavBody(
  { first, rest }: StartedSpeech,
  maxS: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const maxBytes = maxS * SPEECH_RATE_HZ * 2;
  const chunks = [new Uint8Array(WAV_HEADER_BYTES), first];
  let dataBytes = first.length;
  for await (const chunk of rest) {
    chunks.push(chunk);
    dataBytes += chunk.length;
    if (dataBytes > maxBytes) await rest.throw(audioTooLong());
  }
  const bytes = Buffer.concat(chunks);
  bytes.set(wavHeader(dataBytes, SPEECH_RATE_HZ));
  return bytes;
}

function audioTooLong(): ServiceError {
  return invalidRequest(
    "'input' produces more audio than a wav response can contain; split it, or use 'pcm'.",
    'input',
  );
}
