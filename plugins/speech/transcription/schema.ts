/** The form of POST /v1/audio/transcriptions and /v1/audio/translations in wire names, and its rules. */

import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { TranscriptionTask } from '../../../src/contract/engines/engine.ts';
import type { FormFields } from '../../../src/http/request/form-fields.ts';
import { StagedFile } from '../../../src/http/request/multipart.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { booleanOf, numberOf, presentFields, requireFields } from '../fields.ts';

/** Code points of a prompt; a recogniser listens to the last two hundred words at most. */
const PROMPT_CHARACTERS = 5000;

const FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;
export type TranscriptFormat = (typeof FORMATS)[number];

const COMMON = {
  // Checked by hand: a file is no JSON. This is what documentation calls one.
  file: Type.Any({
    type: 'string',
    format: 'binary',
    description: 'The audio: WAV, MP3, M4A or MP4, FLAC, OGG, WebM. Its content decides, not its name.',
  }),
  model: Type.String({ description: 'Id of a transcription model.', examples: ['svc-stt'] }),
  prompt: Type.Optional(
    Type.String({
      maxLength: PROMPT_CHARACTERS,
      description:
        'Earlier text of the same speaker, or words to expect, such as `Ahrensburg, HVV`: a hint for spelling and style.',
    }),
  ),
  response_format: Type.Optional(
    oneOf(FORMATS, { default: 'json', description: 'With `stream`, `json` or `text`.' }),
  ),
  temperature: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0,
      description: '0 takes the likeliest words, and raises itself where those repeat themselves.',
      examples: [0],
    }),
  ),
  stream: Type.Optional(
    Type.Boolean({ default: false, description: 'Sends the text in server-sent events while it is heard.' }),
  ),
};

const Translation = Type.Object(COMMON, { additionalProperties: false });
const Transcription = Type.Object(
  {
    ...COMMON,
    language: Type.Optional(
      Type.String({
        description: 'ISO 639-1 code of the spoken language, in small letters. Left out: it is detected.',
        examples: ['en'],
      }),
    ),
    timestamp_granularities: Type.Optional(
      Type.Array(oneOf(['word', 'segment']), {
        // None, or Swagger would send one with every other format.
        examples: [[]],
        description:
          'What has times, `segment` if nothing is said; with the `response_format` `verbose_json` only.',
      }),
    ),
    chunking_strategy: Type.Optional(
      oneOf(['auto'], { description: 'How long audio is cut is always chosen here.' }),
    ),
  },
  { additionalProperties: false },
);
const SCHEMAS = { transcribe: Transcription, translate: Translation } satisfies Record<
  TranscriptionTask,
  TSchema
>;
const CHECKERS = {
  transcribe: TypeCompiler.Compile(Transcription),
  translate: TypeCompiler.Compile(Translation),
};

/** Fields of OpenAI's that ask for what is not there, and what to do instead. */
const UNAVAILABLE: ReadonlyMap<string, string> = new Map([
  ['include', 'log probabilities of tokens are not given'],
  ['keywords', "name the words in 'prompt'"],
  ['languages', "name one in 'language', or none"],
  ['known_speaker_names', 'speakers are not told apart'],
  ['known_speaker_references', 'speakers are not told apart'],
]);

const READERS = new Map([
  ['temperature', numberOf],
  ['stream', booleanOf],
]);
/** Fields that are given once for each of their values. */
export const LIST_FIELDS: ReadonlySet<string> = new Set(['timestamp_granularities']);
const CHOICES: ReadonlySet<string> = new Set([
  'response_format',
  'timestamp_granularities',
  'chunking_strategy',
]);

/** A checked request. */
export interface TranscriptionAsk {
  readonly task: TranscriptionTask;
  readonly model: string;
  readonly file: StagedFile;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  readonly temperature: number;
  readonly format: TranscriptFormat;
  /** Times that the answer shows. */
  readonly shown: { readonly segments: boolean; readonly words: boolean };
  readonly stream: boolean;
}

/** What Swagger shows for one of the two routes. */
export function transcriptionFormSchema(task: TranscriptionTask, fileBytes: number) {
  const { properties, required } = SCHEMAS[task];
  const file = { ...COMMON.file, description: `${COMMON.file.description} At most ${fileBytes} bytes.` };
  const entries = Object.entries({ ...properties, file }).map(([name, schema]) => [
    LIST_FIELDS.has(name) ? `${name}[]` : name,
    schema,
  ]);
  return {
    type: 'object' as const,
    required,
    additionalProperties: false,
    properties: Object.fromEntries(entries),
  };
}

/**
 * Checks a form against every rule that needs no look at models.
 * @throws ServiceError `invalid_request` that names the field.
 */
export function parseTranscription(task: TranscriptionTask, form: FormFields<StagedFile>): TranscriptionAsk {
  const fields = presentFields(form, READERS);
  refuseUnavailable(fields);
  requireFile(fields);
  requireFields(fields, CHECKERS[task], CHOICES);
  const asked = fields as Static<typeof Transcription> & { file: StagedFile };
  const format = asked.response_format ?? 'json';
  refuseContradictions(asked, format);
  const granularities = asked.timestamp_granularities ?? ['segment'];
  return {
    task,
    model: asked.model,
    file: asked.file,
    language: asked.language,
    prompt: asked.prompt?.trim() ? asked.prompt.toWellFormed() : undefined,
    temperature: asked.temperature ?? 0,
    format,
    shown: {
      segments: format === 'verbose_json' && granularities.includes('segment'),
      words: format === 'verbose_json' && granularities.includes('word'),
    },
    stream: asked.stream ?? false,
  };
}

function refuseUnavailable(fields: Record<string, unknown>): void {
  for (const [name, instead] of UNAVAILABLE) {
    if (!Object.hasOwn(fields, name)) continue;
    throw invalidRequest(`'${name}' is not available here: ${instead}.`, name, 'unsupported_parameter');
  }
}

function requireFile({ file }: Record<string, unknown>): void {
  if (!(file instanceof StagedFile)) {
    const code = file === undefined ? 'missing_required_parameter' : 'invalid_type';
    const form = 'one uploaded file, a part of the form with a file name';
    throw invalidRequest(`'file' is required and must be ${form}.`, 'file', code);
  }
  if (file.lengthBytes === 0) throw invalidRequest("The file in 'file' is empty.", 'file', 'invalid_value');
}

function refuseContradictions(asked: Static<typeof Transcription>, format: TranscriptFormat): void {
  if (asked.timestamp_granularities !== undefined && format !== 'verbose_json') {
    throw invalidRequest(
      "'timestamp_granularities' needs the 'response_format' verbose_json.",
      'timestamp_granularities',
      'invalid_value',
    );
  }
  if (asked.stream && format !== 'json' && format !== 'text') {
    throw invalidRequest(
      "'response_format' must be json or text when 'stream' is true.",
      'response_format',
      'unsupported_value',
    );
  }
}
