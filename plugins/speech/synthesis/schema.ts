/** The body of POST /v1/audio/speech in wire names, its validation, and the conversion of forms (spec 4.3). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import { presentFields, validFields } from '../../../src/http/request/fields.ts';
import { codePoints } from '../../../src/kit/validation/code-points.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';

/** Fields of the former inline voice cloning. */
const REMOVED = ['voice_ref_wav_b64', 'voice_ref_wav_format', 'ref_text', 'x_vector_only_mode'] as const;

const FIELDS = {
  model: Type.String({ description: 'Id of a speech model.', examples: ['svc-tts'] }),
  input: Type.String({
    description: 'Text to synthesize. Characters are Unicode code points.',
    examples: ['Hello there, how can I help you today?'],
  }),
  voice: Type.Optional(
    Type.Union([Type.String(), Type.Object({ id: Type.String() })], {
      description:
        'A stored voice: its id, or an object with its id. Models of upstream servers also accept the names of their voices. Default: the configured voice.',
    }),
  ),
  response_format: Type.Optional(oneOf(['wav', 'pcm'], { default: 'wav' })),
  speed: Type.Optional(
    Type.Number({
      minimum: 0.25,
      maximum: 4,
      default: 1,
      description: 'A hint; the duration is not exactly proportional.',
    }),
  ),
  max_new_tokens: Type.Optional(Type.Integer({ description: 'Accepted and ignored.' })),
  instructions: Type.Optional(
    Type.String({
      description: 'How to speak. Sent to upstream servers; embedded models ignore it.',
    }),
  ),
  stream_format: Type.Optional(
    oneOf(['audio', 'sse'], {
      default: 'audio',
      description: '`sse` sends the audio in the events `speech.audio.delta` and `speech.audio.done`.',
    }),
  ),
};

const SpeechBody = Type.Object(FIELDS);
type SpeechBody = Static<typeof SpeechBody>;
const checker = TypeCompiler.Compile(SpeechBody);

/** The validated parameters. */
export interface SpeechRequest {
  readonly model: string;
  readonly input: string;
  /** Unicode code points of `input`. */
  readonly characters: number;
  readonly voice: string | undefined;
  readonly instructions: string | undefined;
  readonly format: 'wav' | 'pcm';
  /** Whether the audio is sent as server-sent events. */
  readonly asEvents: boolean;
  readonly speed: number;
}

/** The OpenAPI schema of a form, with the configured maximum length. */
export function speechFormSchema(maxCharacters: number) {
  const input = { ...FIELDS.input, minLength: 1, maxLength: maxCharacters };
  return { ...SpeechBody, properties: { ...FIELDS, input } };
}

/** The OpenAPI schema of a JSON body: the form schema plus the removed fields, which may be null. */
export function speechBodySchema(maxCharacters: number) {
  const description = 'Removed; any value except null is an error.';
  const removed = REMOVED.map((name) => [name, Type.Null({ deprecated: true, description })]);
  const schema = speechFormSchema(maxCharacters);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(removed) } };
}

/**
 * Validates a body. Does not check whether the model and the voice exist.
 * @param body a JSON object, or the fields of a form.
 * @param isForm whether scalars are strings.
 * @throws ServiceError `invalid_request` with the name of the field.
 */
export function parseSpeechRequest(
  body: object | null,
  isForm: boolean,
  maxCharacters: number,
): SpeechRequest {
  const removed = REMOVED.find((name) => isGiven(body, name));
  if (removed !== undefined) {
    const message = `'${removed}' is no longer supported: create a stored voice and pass its id as 'voice'.`;
    throw invalidRequest(message, removed, 'unsupported_parameter');
  }
  const fields = presentFields(body, SpeechBody, isForm);
  const { model, input, voice, response_format, stream_format, speed, instructions } =
    validFields<SpeechBody>(fields, checker, { choices: CHOICES });
  return {
    model,
    input: input.toWellFormed(),
    characters: countCharacters(input, maxCharacters),
    voice: (typeof voice === 'object' ? voice.id : voice)?.trim() || undefined,
    format: response_format ?? 'wav',
    asEvents: stream_format === 'sse',
    speed: speed ?? 1,
    instructions: instructions?.toWellFormed(),
  };
}

const CHOICES: ReadonlySet<string> = new Set(['response_format', 'stream_format']);

/** Whether a body has a field other than null, even a blank one. */
function isGiven(body: object | null, name: string): boolean {
  return new Map<string, unknown>(Object.entries(body ?? {})).get(name) != null;
}

/** @throws ServiceError if the text is blank or too long. */
function countCharacters(input: string, maxCharacters: number): number {
  if (input.trim() === '') {
    throw invalidRequest("'input' must not be blank.", 'input', 'invalid_value');
  }
  const characters = codePoints(input);
  if (characters <= maxCharacters) return characters;
  throw invalidRequest(
    `'input' must have at most ${maxCharacters} characters; it has ${characters}.`,
    'input',
    'string_above_max_length',
  );
}
