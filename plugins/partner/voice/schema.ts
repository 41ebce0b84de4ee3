/** The body of POST /v1/voices/partner in wire names, and its validation (spec 4.9). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import { MAX_RATE_HZ, MIN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { checkedBody } from '../../../src/http/request/json-body.ts';
import { codePoints } from '../../../src/kit/validation/code-points.ts';

export const DEFAULT_MODEL = 'svc-tts';

const MESSAGE = {
  type: Type.Literal('voice-request'),
  text: Type.String({
    description: 'Text to synthesize, one part of a reply. Characters are Unicode code points.',
    examples: ['Hello there, how can I help you today?'],
  }),
  sampleRate: Type.Integer({
    minimum: MIN_RATE_HZ,
    maximum: MAX_RATE_HZ,
    description: 'Sample rate of the returned audio, in Hz.',
    examples: [24_000],
  }),
  voiceId: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        'Id of a stored voice, or name of a voice of the model. Default: `voice_id` of the query, then the configured voice.',
    }),
  ),
  timestamp: Type.Optional(
    Type.Unknown({ description: 'Unix time in ms. Ignored.', examples: [1_765_000_000_000] }),
  ),
  call: Type.Optional(Type.Unknown({ description: 'Metadata of the call. Ignored.' })),
  assistant: Type.Optional(Type.Unknown({ description: 'The assistant of the call. Ignored.' })),
};

/** Unknown fields are ignored at any depth, because the platform adds metadata of the call. */
const VoiceBody = Type.Object({ message: Type.Object(MESSAGE) });
const checker = TypeCompiler.Compile(VoiceBody);

/** The validated parameters. */
export interface VoiceRequest {
  readonly text: string;
  /** Unicode code points of `text`. */
  readonly characters: number;
  readonly rateHz: number;
  readonly model: string;
  /** From the body or the query. */
  readonly voiceId: string | undefined;
  /** The parameter that names the voice, for error messages. */
  readonly voiceParam: string;
  /** BCP 47 tag of the query; undefined: the language of the voice. */
  readonly language: string | undefined;
}

/** The OpenAPI schema of the body, with the configured maximum length. */
export function voiceBodySchema(maxCharacters: number) {
  const text = { ...MESSAGE.text, minLength: 1, maxLength: maxCharacters };
  const { message } = VoiceBody.properties;
  return {
    ...VoiceBody,
    properties: { message: { ...message, properties: { ...MESSAGE, text } } },
  };
}

/** Names that the voice parameter has in other APIs. They are rejected, because ignoring them would use another voice. */
const MISNAMED_VOICE_PARAMS = ['voice', 'voiceId'] as const;

/**
 * Validates a request. Does not check whether the model and the voice exist.
 * @param query query parameters; unknown ones are ignored.
 * @throws ServiceError `invalid_request` with the name of the field.
 */
export function parseVoiceRequest(
  body: unknown,
  query: URLSearchParams,
  maxCharacters: number,
): VoiceRequest {
  const misnamed = MISNAMED_VOICE_PARAMS.find((name) => query.has(name));
  if (misnamed !== undefined) {
    const message = `Unknown query parameter '${misnamed}'; use 'voice_id' to select a stored voice.`;
    throw invalidRequest(message, misnamed, 'unknown_parameter');
  }
  const { message } = checkedBody<Static<typeof VoiceBody>>(body, checker);
  const { text, sampleRate, voiceId } = message;
  const given = voiceId?.trim() || undefined;
  return {
    text: text.toWellFormed(),
    characters: countCharacters(text, maxCharacters),
    rateHz: sampleRate,
    model: query.get('model')?.trim() || DEFAULT_MODEL,
    voiceId: given ?? (query.get('voice_id')?.trim() || undefined),
    voiceParam: given === undefined ? 'voice_id' : 'message.voiceId',
    language: query.get('language')?.trim() || undefined,
  };
}

/** @throws ServiceError if the text is blank or too long. */
function countCharacters(text: string, maxCharacters: number): number {
  if (text.trim() === '') {
    throw invalidRequest("'message.text' must not be blank.", 'message.text', 'invalid_value');
  }
  const characters = codePoints(text);
  if (characters <= maxCharacters) return characters;
  throw invalidRequest(
    `'message.text' must have at most ${maxCharacters} characters; it has ${characters}.`,
    'message.text',
    'string_above_max_length',
  );
}
