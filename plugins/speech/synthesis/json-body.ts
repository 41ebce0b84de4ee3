/** Speech in one JSON object, and in lines of JSON as Kokoro-FastAPI's captioned speech. */

import { Type } from '@sinclair/typebox';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { ByteShare } from '../../../src/kit/limits/byte-budget.ts';
import { toRecordLine } from '../../../src/kit/text/record-line.ts';
import type { SpeechTokens } from '../../../src/usage/usage-meters.ts';
import type { AudioBody } from './encoded-body.ts';
import { usageOf } from './event-body.ts';
import type { SpeechFormat } from './formats.ts';
import { CONTENT_TYPES, FORMATS } from './formats.ts';
import type { TimedWords, WireWord } from './timed-words.ts';

/** Audio of one object: 11 minutes of samples, or hours of MP3. Longer audio can be sent as events. */
const MAX_BYTES = 32 * 2 ** 20;

const Base64 = Type.String({ description: 'Audio in base64.', contentEncoding: 'base64' });

/** The response with `stream_format` `json`. */
export const SpeechObject = Type.Object(
  {
    object: Type.Literal('speech'),
    audio: Base64,
    format: Type.String({ enum: [...FORMATS] }),
    words: Type.Optional(
      Type.Array(
        Type.Object({
          word: Type.String({ description: 'With its punctuation.' }),
          start: Type.Number({ description: 'Seconds from the start of the audio.' }),
          end: Type.Number(),
        }),
      ),
    ),
    marks: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), time: Type.Number() }), {
        description: 'Marks of SSML, in seconds from the start of the audio.',
      }),
    ),
    usage: Type.Object({
      input_tokens: Type.Integer(),
      output_tokens: Type.Integer(),
      total_tokens: Type.Integer(),
    }),
  },
  { title: 'Speech' },
);

/** A line of POST /dev/captioned_speech, or its whole response. */
export const CaptionedSpeech = Type.Object(
  {
    audio: Base64,
    audio_format: Type.String({ description: 'Content type of the audio.', examples: ['audio/mpeg'] }),
    timestamps: Type.Array(
      Type.Object({ word: Type.String(), start_time: Type.Number(), end_time: Type.Number() }),
    ),
  },
  { title: 'CaptionedSpeech' },
);

export interface SpeechContent {
  readonly chunks: AudioBody;
  readonly format: SpeechFormat;
  readonly words: TimedWords;
  /** Called when the audio is complete. */
  readonly tokens: () => SpeechTokens;
}

/**
 * Yields one chunk: the object `{ audio, format, words, usage }`.
 * @param hasWords whether the object has `words`.
 * @param share counts the bytes of the audio. The caller ends it.
 * @throws ServiceError `invalid_request` if the audio is too long; the errors of the budget and of the synthesis.
 */
export async function* speechObject(
  { chunks, format, words, tokens }: SpeechContent,
  hasWords: boolean,
  share: ByteShare,
): AudioBody {
  const audio = (await collected(chunks, share)).toString('base64');
  const marks = words.takeMarks();
  const timed = { ...(hasWords && { words: words.take() }), ...(marks.length > 0 && { marks }) };
  yield line({ object: 'speech', audio, format, ...timed, usage: usageOf(tokens()) });
}

/**
 * Yields one line of JSON per chunk of audio, with the words that became known since the last one: the shape of Kokoro-FastAPI's
 * `/dev/captioned_speech`.
 */
export async function* captionLines({ chunks, format, words }: SpeechContent): AudioBody {
  for await (const chunk of chunks) yield line(caption(chunk.toBase64(), format, words.take()));
  const rest = words.take();
  if (rest.length > 0) yield line(caption('', format, rest));
}

/** Yields one object of this shape with all of the audio. @throws as {@link speechObject}. */
export async function* captionObject({ chunks, format, words }: SpeechContent, share: ByteShare): AudioBody {
  const audio = (await collected(chunks, share)).toString('base64');
  yield line(caption(audio, format, words.take()));
}

function caption(audio: string, format: SpeechFormat, words: readonly WireWord[]) {
  const timestamps = words.map(({ word, start, end }) => ({ word, start_time: start, end_time: end }));
  return { audio, audio_format: CONTENT_TYPES[format], timestamps };
}

async function collected(chunks: AudioBody, share: ByteShare): Promise<Buffer> {
  const all: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    share.add(chunk.length);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) {
      const message = `The audio has more than ${MAX_BYTES / 2 ** 20} MiB; split 'input', or use 'stream_format' "sse".`;
      throw invalidRequest(message, 'input', 'invalid_value');
    }
    all.push(chunk);
  }
  return Buffer.concat(all);
}

const encoder = new TextEncoder();

function line(value: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${toRecordLine(value)}\n`);
}
