import type { ServiceClient } from '../../client/service-client.ts';
import { ServiceError, toServiceError } from '../../client/service-error.ts';
import { PcmReader, type Samples } from '../pcm.ts';
import { readWav } from '../wav.ts';
import { decodeFile } from './decode-file.ts';

/** Parameters of a speech request. */
export interface SpeechParams {
  readonly model: string | undefined;
  readonly input: string;
  /** A voice of the model, or the id of a stored voice; undefined for the default of the model. */
  readonly voice: string | undefined;
  /** Speed factor, 0.25 to 4. */
  readonly speed: number;
  readonly format: SpeechFormat;
}

/** `pcm` is played while it arrives, the others when they are complete. */
export type SpeechFormat = 'pcm' | 'wav' | 'mp3' | 'opus' | 'aac' | 'flac';

/** Sample rate of synthesized PCM in Hz. */
export const SPEECH_RATE_HZ = 24_000;
/** Maximum duration in seconds, limited by the memory of the page. */
const MAX_SECONDS = 3600;

export interface SpeechListener {
  /** Called when the response headers arrive, with the request id. */
  onResponse(requestId: string | null): void;
  /** Called with each chunk; all chunks have the same sample rate. */
  onSamples(samples: Samples, rateHz: number): void;
  /** Called with the file of the response before its samples; not called for PCM. */
  onFile(file: Blob): void;
}

/**
 * Synthesizes a text and passes the audio on as it arrives.
 * @throws ServiceError for an error response, an interrupted response, or too much audio; the reason of
 * `signal`.
 */
export async function speak(
  client: ServiceClient,
  params: SpeechParams,
  listener: SpeechListener,
  signal: AbortSignal,
  maxSeconds: number = MAX_SECONDS,
): Promise<void> {
  const { format, model, input, voice, speed } = params;
  const body = { model, input, voice, speed, response_format: format };
  const response = await client.send('POST', 'v1/audio/speech', body, { signal });
  listener.onResponse(response.headers.get('x-request-id'));
  try {
    if (format !== 'pcm') {
      const file = await response.blob();
      listener.onFile(file);
      const bytes = await file.arrayBuffer();
      const { samples, rateHz } =
        format === 'wav' ? readWav(bytes) : await decodeFile(bytes, SPEECH_RATE_HZ, format);
      return listener.onSamples(samples, rateHz);
    }
    const pcm = new PcmReader();
    let room = maxSeconds * SPEECH_RATE_HZ;
    for await (const bytes of chunksOf(response)) {
      const samples = pcm.read(bytes);
      room -= samples.length;
      if (room < 0) throw tooLong(maxSeconds);
      listener.onSamples(samples, SPEECH_RATE_HZ);
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : toServiceError(error);
  }
}

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function tooLong(maxSeconds: number): ServiceError {
  const message = `The speech is longer than ${Math.round(maxSeconds / 60)} minutes, the maximum of this page.`;
  return new ServiceError(message, { status: 0 });
}

/** Number of Unicode code points, which is how the service counts characters. */
export function charactersOf(text: string): number {
  return [...text].length;
}
