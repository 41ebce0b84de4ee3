/**
 * Descriptions of the fields of a session update for the AsyncAPI document. `session/session.ts` implements
 * the rules; a test compares the two.
 */

import { type TSchema, Type } from '@sinclair/typebox';
import { DEFAULT_VAD_SETTINGS as VAD } from '../../../src/contract/engines/engine.ts';
import { nullable } from '../../../src/kit/validation/schemas.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { MAX_PROMPT_CHARACTERS, PCM_RATE_HZ, THRESHOLD, VAD_MS } from '../limits.ts';

/** All fields are optional. Omitted fields keep their values. */
function fields(properties: Readonly<Record<string, TSchema>>, description?: string) {
  const optional = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]);
  return Type.Object(Object.fromEntries(optional), description === undefined ? {} : { description });
}

const Format = fields({
  type: oneOf(['audio/pcm', 'audio/pcmu', 'audio/pcma'], {
    description: 'Signed 16-bit little-endian samples, or G.711. Mono.',
  }),
  rate: Type.Integer({
    minimum: PCM_RATE_HZ.from,
    maximum: PCM_RATE_HZ.to,
    description: 'Sample rate in Hz. Initially 24000; G.711 requires 8000.',
  }),
});

const milliseconds = (description: string, byDefault: number) =>
  Type.Integer({ minimum: VAD_MS.from, maximum: VAD_MS.to, description, default: byDefault });

const Detection = fields({
  type: Type.Literal('server_vad', { description: 'Required if turn detection was off.' }),
  threshold: Type.Number({
    minimum: THRESHOLD.from,
    maximum: THRESHOLD.to,
    description: 'Speech probability above which the detector reports speech.',
    default: VAD.threshold,
  }),
  prefix_padding_ms: milliseconds(
    'Audio before the speech that is included in its turn.',
    VAD.prefixPaddingMs,
  ),
  silence_duration_ms: milliseconds('Silence that ends a turn.', VAD.silenceDurationMs),
});

/** `session` of a `session.update`. */
export const SessionUpdateSchema = fields(
  {
    type: oneOf(['transcription', 'translation', 'realtime'], {
      description: '`translation` transcribes commits in English; `realtime` also selects the GA names.',
    }),
    model: nullable(Type.String({ maxLength: 256, description: 'Echoed.' })),
    audio: fields({
      input: fields({
        format: Format,
        transcription: nullable(
          fields({
            model: Type.String({
              description:
                'Name of a transcription model, also `gpt-live-transcribe` and `gpt-realtime-whisper` if `gpt-transcribe` exists.',
              examples: ['svc-stt'],
            }),
            language: nullable(
              Type.String({ description: 'ISO 639-1 code; null: detected.', examples: ['en'] }),
            ),
            languages: nullable(
              Type.Array(Type.String({ examples: ['en'] }), {
                description: 'Languages that may be detected; null: all. Without effect next to `language`.',
              }),
            ),
            prompt: nullable(
              Type.String({
                maxLength: MAX_PROMPT_CHARACTERS,
                description: 'Preceding text or expected words.',
              }),
            ),
            keywords: nullable(
              Type.Array(Type.String({ examples: ['Ahrensburg'] }), {
                description:
                  'Words and phrases that may occur: a hint for their spelling. At most 5000 characters in total.',
              }),
            ),
          }),
        ),
        turn_detection: nullable(Detection),
        noise_reduction: Type.Null(),
      }),
      output: fields({
        format: Format,
        voice: nullable(
          Type.String({
            description:
              '`voice_id` of a stored voice, also as `{"id": …}`; null: the default voice in CONFIG.',
            examples: ['tts-vc-voice_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'],
          }),
        ),
        language: nullable(
          Type.String({
            description:
              'Language of the spoken text as a BCP 47 tag, such as `es` or `pt-BR`; null: the language of the voice, or the detected one.',
            examples: ['es'],
          }),
        ),
        speed: nullable(
          Type.Number({
            minimum: 0.25,
            maximum: 4,
            description: 'Speaking rate, a hint; null: the default rate.',
          }),
        ),
      }),
    }),
    include: nullable(
      Type.Array(Type.Literal('item.input_audio_transcription.logprobs'), {
        uniqueItems: true,
        description: 'Adds `logprobs` to the events of transcripts.',
      }),
    ),
    output_modalities: Type.Array(oneOf(['audio', 'text']), {
      uniqueItems: true,
      description: 'Must be `["audio"]` before the first `response.create`.',
    }),
    tts_model: Type.String({ description: 'Id of a speech model.', examples: ['svc-tts'] }),
  },
  'The flat names of the beta protocol are accepted as well, and OpenAI fields that have no effect here are echoed.',
);
