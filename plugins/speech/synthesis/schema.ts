/** The body of POST /v1/audio/speech in wire names, its validation, and the conversion of forms (spec 4.3). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import { checkedFields, presentFields } from '../../../src/http/request/fields.ts';
import { codePoints } from '../../../src/kit/validation/code-points.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { parseSsml } from '../../../src/ssml/parse-ssml.ts';
import type { SpeechPart } from '../../../src/ssml/speech-parts.ts';
import { FORMATS } from './formats.ts';

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
  language: Type.Optional(
    Type.String({
      description:
        'Language of the text as a BCP 47 tag, such as `es` or `pt-BR`, in any case. Default: the language of a voice that names one, otherwise the detected language of each paragraph. Every voice speaks every language of its model; without `voice`, a voice of the language speaks.',
      examples: ['es'],
    }),
  ),
  // The model determines which formats are allowed.
  response_format: Type.Optional(Type.String()),
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
    oneOf(['audio', 'sse', 'json'], {
      default: 'audio',
      description:
        '`sse` sends the audio in the events `speech.audio.delta` and `speech.audio.done`. `json` sends one object with the audio in base64.',
    }),
  ),
  input_type: Type.Optional(
    oneOf(['text', 'ssml'], {
      default: 'text',
      description:
        'Whether `input` is plain text or a document in SSML 1.1 with the root `speak`. Extension.',
    }),
  ),
  timestamps: Type.Optional(
    Type.Array(oneOf(['word']), {
      description:
        '`["word"]` adds the time of each word: in events `speech.audio.words` of `sse`, or in `words` of `json`. Extension.',
    }),
  ),
};

const SpeechBody = Type.Object(FIELDS);
type SpeechBody = Static<typeof SpeechBody>;
const checker = TypeCompiler.Compile(SpeechBody);

/** How the audio is sent: as the bytes of a file, as server-sent events, or in one object. */
export type Presentation = 'audio' | 'sse' | 'json';

/** The parameters of a body. */
export interface SpeechFields {
  readonly model: string;
  readonly input: string;
  /** Unicode code points of `input`, of SSML without its markup. */
  readonly characters: number;
  /** Parts of SSML; undefined: plain text. `input` is then the joined text of the parts. */
  readonly parts: readonly SpeechPart[] | undefined;
  readonly voice: string | undefined;
  /** BCP 47 tag as sent; undefined: the language of the voice. */
  readonly language: string | undefined;
  readonly instructions: string | undefined;
  /** As sent; undefined means the default of the model. */
  readonly responseFormat: string | undefined;
  readonly presentation: Presentation;
  /** Whether the time of each word is sent. */
  readonly hasWords: boolean;
  readonly speed: number;
}

/** The OpenAPI schema of a form, with the configured maximum length. */
export function speechFormSchema(maxCharacters: number) {
  const input = { ...FIELDS.input, minLength: 1, maxLength: maxCharacters };
  const response_format = oneOf(FORMATS, {
    description:
      'Models with OpenAI compatibility have all formats, and `mp3` by default. All other models have `wav` and `pcm`, and `wav` by default.',
  });
  return { ...SpeechBody, properties: { ...FIELDS, input, response_format } };
}

/** The OpenAPI schema of a JSON body: the form schema plus the removed fields, which may be null. */
export function speechBodySchema(maxCharacters: number) {
  const description = 'Removed; any value except null is an error.';
  const removed = REMOVED.map((name) => [name, Type.Null({ deprecated: true, description })]);
  const schema = speechFormSchema(maxCharacters);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(removed) } };
}

/** What a body has. */
export interface ReadSpeechBody {
  /** One error for each invalid field. */
  readonly errors: readonly ServiceError[];
  /** Undefined if there are errors. */
  readonly fields: SpeechFields | undefined;
  /** The fields whose rules depend on the model, as far as they are valid. */
  readonly choices: Partial<Pick<SpeechFields, 'model' | 'voice' | 'language' | 'responseFormat'>>;
}

/**
 * Validates a body. Does not check whether the model and the voice exist, nor which formats the model has.
 * @param body a JSON object, or the fields of a form.
 * @param isForm whether scalars are strings.
 * Errors are `invalid_request` with the name of the field.
 */
export function readSpeechBody(body: object | null, isForm: boolean, maxCharacters: number): ReadSpeechBody {
  const errors = REMOVED.filter((name) => isGiven(body, name)).map(removedField);
  const present = presentFields(body, SpeechBody, isForm);
  const checked = checkedFields<SpeechBody>(present, checker, { choices: CHOICES });
  errors.push(...checked.errors);
  const { model, voice, response_format, stream_format, timestamps, speed, instructions, language } =
    checked.fields;
  const { input_type } = checked.fields;
  const spoken =
    input_type === 'ssml'
      ? markedText(checked.fields.input, maxCharacters, errors)
      : { input: checked.fields.input, parts: undefined };
  const { input } = spoken;
  const characters = input === undefined ? undefined : codePoints(input);
  if (input !== undefined && characters !== undefined) {
    const error = inputError(input, characters, maxCharacters);
    if (error !== undefined) errors.push(error);
  }
  const hasWords = timestamps !== undefined && timestamps.length > 0;
  const presentation = stream_format ?? 'audio';
  if (hasWords && presentation === 'audio') {
    const message =
      '\'timestamps\' needs \'stream_format\' "sse" or "json": a file of audio has no room for them.';
    errors.push(invalidRequest(message, 'timestamps', 'invalid_value'));
  }
  const choices = {
    ...(model !== undefined && { model }),
    voice: (typeof voice === 'object' ? voice.id : voice)?.trim() || undefined,
    language: language?.trim() || undefined,
    responseFormat: response_format,
  };
  if (errors.length > 0 || model === undefined || input === undefined || characters === undefined) {
    return { errors, fields: undefined, choices };
  }
  const fields = {
    ...choices,
    model,
    input: input.toWellFormed(),
    characters,
    parts: spoken.parts,
    presentation,
    hasWords,
    speed: speed ?? 1,
    instructions: instructions?.toWellFormed(),
  };
  return { errors, fields, choices };
}

/** Sorts errors by the order of the fields in the schema. Fields that the schema does not have are first. */
export function inFieldOrder(errors: readonly ServiceError[]): ServiceError[] {
  const names = Object.keys(FIELDS);
  const position = ({ param }: ServiceError) => names.indexOf(param?.split('.', 1)[0] ?? '');
  return errors.toSorted((a, b) => position(a) - position(b));
}

const CHOICES: ReadonlySet<string> = new Set(['stream_format', 'input_type']);

/** Whether a body has a field other than null, even a blank one. */
function isGiven(body: object | null, name: string): boolean {
  return new Map<string, unknown>(Object.entries(body ?? {})).get(name) != null;
}

function removedField(name: (typeof REMOVED)[number]): ServiceError {
  const message = `'${name}' is no longer supported: create a stored voice and pass its id as 'voice'.`;
  return invalidRequest(message, name, 'unsupported_parameter');
}

/** Code points of a document per code point of its text. */
const MARKUP_FACTOR = 4;

/** The parts of a document and their joined text. Adds the error of an invalid one. */
function markedText(document: string | undefined, maxCharacters: number, errors: ServiceError[]) {
  const nothing = { input: undefined, parts: undefined };
  if (document === undefined) return nothing;
  const maxDocument = MARKUP_FACTOR * maxCharacters;
  if (codePoints(document) > maxDocument) {
    const message = `'input' must have at most ${maxDocument} characters with its markup.`;
    errors.push(invalidRequest(message, 'input', 'invalid_value'));
    return nothing;
  }
  try {
    const parts = parseSsml(document.toWellFormed(), { param: 'input' });
    const input = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    return { input, parts };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    errors.push(error);
    return nothing;
  }
}

/** The error of an `input` that is blank or too long. @param characters its Unicode code points. */
export function inputError(
  input: string,
  characters: number,
  maxCharacters: number,
): ServiceError | undefined {
  if (input.trim() === '') return invalidRequest("'input' must not be blank.", 'input', 'invalid_value');
  if (characters <= maxCharacters) return undefined;
  return invalidRequest(
    `'input' must have at most ${maxCharacters} characters; it has ${characters}.`,
    'input',
    'string_above_max_length',
  );
}
