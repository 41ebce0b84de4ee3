/** The body of POST /v1/voices/partner in wire names, and its rules (spec 4.9). */

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
    description: 'The text to speak, one piece of a reply. Characters are Unicode code points.',
    examples: ['Hello there, how can I help you today?'],
  }),
  sampleRate: Type.Integer({
    minimum: MIN_RATE_HZ,
    maximum: MAX_RATE_HZ,
    description: 'Rate of the audio that is sent, in Hz.',
    examples: [24_000],
  }),
  voiceId: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'A stored voice. Left out: `voice_id` of the query, else the configured voice.',
    }),
  ),
  timestamp: Type.Optional(
    Type.Unknown({ description: 'Unix time in ms. Ignored.', examples: [1_765_000_000_000] }),
  ),
  call: Type.Optional(Type.Unknown({ description: 'The call, as the platform knows it. Ignored.' })),
  assistant: Type.Optional(Type.Unknown({ description: 'The assistant of the call. Ignored.' })),
};

/** The platform adds whatever it knows of the call, at any depth: all that has no name here is ignored. */
const VoiceBody = Type.Object({ message: Type.Object(MESSAGE) });
const checker = TypeCompiler.Compile(VoiceBody);

/** A checked request. */
export interface VoiceRequest {
  readonly text: string;
  /** Unicode code points of `text`. */
  readonly characters: number;
  readonly rateHz: number;
  readonly model: string;
  /** Of the body, else of the query. */
  readonly voiceId: string | undefined;
  /** Where a voice was named, or could be. */
  readonly voiceParam: string;
}

/** What Swagger shows: the rules above with the limit of this installation. */
export function voiceBodySchema(maxCharacters: number) {
  const text = { ...MESSAGE.text, minLength: 1, maxLength: maxCharacters };
  const { message } = VoiceBody.properties;
  return {
    ...VoiceBody,
    properties: { message: { ...message, properties: { ...MESSAGE, text } } },
  };
}

/** Names of the voice elsewhere: who gives one in the query would hear another voice. */
const MISNAMED = ['voice', 'voiceId'] as const;

/**
 * Checks a request against every rule that needs no look at models or voices.
 * @param query of the address; what has no name here is ignored there, too.
 * @throws ServiceError `invalid_request` that names the field.
 */
export function parseVoiceRequest(
  body: unknown,
  query: URLSearchParams,
  maxCharacters: number,
): VoiceRequest {
  const misnamed = MISNAMED.find((name) => query.has(name));
  if (misnamed !== undefined) {
    const message = `The query parameter '${misnamed}' is not known; a stored voice is named by 'voice_id'.`;
    throw invalidRequest(message, misnamed, 'unknown_parameter');
  }
  const { message } = checkedBody<Static<typeof VoiceBody>>(body, checker);
  const { text, sampleRate, voiceId } = message;
  return {
    text: text.toWellFormed(),
    characters: countCharacters(text, maxCharacters),
    rateHz: sampleRate,
    model: query.get('model') ?? DEFAULT_MODEL,
    voiceId: voiceId ?? query.get('voice_id') ?? undefined,
    voiceParam: typeof voiceId === 'string' ? 'message.voiceId' : 'voice_id',
  };
}

/** @throws ServiceError for a text that is blank or too long. */
function countCharacters(text: string, maxCharacters: number): number {
  if (text.trim() === '') {
    throw invalidRequest(
      "'message.text' must hold text to speak; it is blank.",
      'message.text',
      'invalid_value',
    );
  }
  const characters = codePoints(text);
  if (characters <= maxCharacters) return characters;
  throw invalidRequest(
    `'message.text' must have at most ${maxCharacters} characters; it has ${characters}.`,
    'message.text',
    'string_above_max_length',
  );
}
