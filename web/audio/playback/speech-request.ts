import { readEvents } from '../../client/event-reader.ts';
import type { ServiceClient } from '../../client/service-client.ts';
import { errorFromBody, ServiceError, toServiceError } from '../../client/service-error.ts';
import { bytesOf, PcmReader, type Samples } from '../pcm.ts';
import { readWav } from '../wav.ts';
import { decodeFile } from './decode-file.ts';
import type { SpokenWord } from './spoken-words.ts';

/** Parameters of a speech request. */
export interface SpeechParams {
  readonly model: string | undefined;
  readonly input: string;
  /** A voice of the model, or the id of a stored voice; undefined for the default of the model. */
  readonly voice: string | undefined;
  /** BCP 47 tag; undefined for the language of the voice. */
  readonly language?: string | undefined;
  /** Whether `input` is a document in SSML. */
  readonly isSsml?: boolean;
  /** Speed factor, 0.25 to 4. */
  readonly speed: number;
  readonly format: SpeechFormat;
}

/** `pcm` is played while it arrives, the others when they are complete. */
export type SpeechFormat = 'pcm' | 'wav' | 'mp3' | 'opus' | 'aac' | 'flac';

/** Content types of the files. */
const FILE_TYPES: Readonly<Record<Exclude<SpeechFormat, 'pcm'>, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
};

/** Sample rate of synthesized PCM in Hz. */
export const SPEECH_RATE_HZ = 24_000;
/** Maximum duration in seconds, limited by the memory of the page. */
const MAX_SECONDS = 3600;

export interface SpeechListener {
  /** Called when the response headers arrive, with the request id. */
  onResponse(requestId: string | null): void;
  /** Called with each chunk; all chunks have the same sample rate. */
  onSamples(samples: Samples, rateHz: number): void;
  /** Called with further words, before or soon after their samples. */
  onWords(words: readonly SpokenWord[]): void;
  /** Called with the file of the response before its samples; not called for PCM. */
  onFile(file: Blob): void;
}

/**
 * Synthesizes a text and passes the audio and the times of its words on as they arrive.
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
  const { format } = params;
  const response = await client.send('POST', 'v1/audio/speech', bodyOf(params), { signal });
  listener.onResponse(response.headers.get('x-request-id'));
  try {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    const pcm = new PcmReader();
    let room = maxSeconds * SPEECH_RATE_HZ;
    for await (const bytes of audioOf(response, listener)) {
      if (format !== 'pcm') {
        parts.push(bytes);
        continue;
      }
      const samples = pcm.read(bytes);
      room -= samples.length;
      if (room < 0) throw tooLong(maxSeconds);
      listener.onSamples(samples, SPEECH_RATE_HZ);
    }
    if (format === 'pcm') return;
    const file = new Blob(parts, { type: FILE_TYPES[format] });
    listener.onFile(file);
    const content = await file.arrayBuffer();
    const { samples, rateHz } =
      format === 'wav' ? readWav(content) : await decodeFile(content, SPEECH_RATE_HZ, format);
    listener.onSamples(samples, rateHz);
  } catch (error) {
    throw signal.aborted ? signal.reason : toServiceError(error);
  }
}

/** The body of a request for events with audio and words. Undefined fields are omitted. */
function bodyOf({ model, input, voice, language, isSsml, speed, format }: SpeechParams) {
  return {
    model,
    input,
    input_type: isSsml ? 'ssml' : undefined,
    voice,
    language,
    speed,
    response_format: format,
    stream_format: 'sse',
    timestamps: ['word'],
  };
}

/** The events that this page uses; others are ignored. */
type SpeechEvent =
  | { readonly type: 'speech.audio.delta'; readonly audio: string }
  | { readonly type: 'speech.audio.words'; readonly words: readonly SpokenWord[] }
  | { readonly type: 'speech.audio.done' }
  | { readonly type: 'other'; readonly error?: object };

/** The bytes of the audio. @throws ServiceError for an event with an error, and for a response without its last event. */
async function* audioOf(
  response: Response,
  listener: Pick<SpeechListener, 'onWords'>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const { data } of readEvents(response)) {
    const event = JSON.parse(data) as SpeechEvent;
    if (event.type === 'speech.audio.delta') yield bytesOf(event.audio);
    else if (event.type === 'speech.audio.words') listener.onWords(event.words);
    else if (event.type === 'speech.audio.done') return;
    else if (event.error !== undefined) throw errorFromBody(event, response.status);
  }
  throw new ServiceError('The response ended before the end of the speech.', { status: response.status });
}

function tooLong(maxSeconds: number): ServiceError {
  const message = `The speech is longer than ${Math.round(maxSeconds / 60)} minutes, the maximum of this page.`;
  return new ServiceError(message, { status: 0 });
}

/** Number of Unicode code points, which is how the service counts characters. */
export function charactersOf(text: string): number {
  return [...text].length;
}
