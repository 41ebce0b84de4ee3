/** Schemas of JSON responses with speech. */

import { Type } from '@sinclair/typebox';
import { FORMATS } from './formats.ts';

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
