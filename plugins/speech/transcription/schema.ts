/** The form of POST /v1/audio/transcriptions and /v1/audio/translations in wire names, and its validation. */

import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { TranscriptionTask } from '../../../src/contract/engines/engine.ts';
import { presentFields, validFields } from '../../../src/http/request/fields.ts';
import type { FormFields } from '../../../src/http/request/form-fields.ts';
import { StagedFile } from '../../../src/http/request/multipart.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { cleanKeywords, KEYWORDS_RULE, MAX_KEYWORDS } from '../../../src/listen/keywords.ts';

/** Maximum code points of a prompt. Transcription models use about the last 200 words. */
const PROMPT_CHARACTERS = 5000;

/** Models know about 100 languages. */
const MAX_LANGUAGES = 100;

const FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;
export type TranscriptFormat = (typeof FORMATS)[number];

/** A format of OpenAI's API that needs to know who speaks. */
const DIARIZED = 'diarized_json';

const COMMON = {
  // Validated separately, because a file is not a JSON value. The schema is its OpenAPI documentation.
  file: Type.Any({
    type: 'string',
    format: 'binary',
    description:
      'Audio file: WAV, MP3, M4A, MP4, 3GP, FLAC, OGG, WebM, AIFF, CAF, AMR, WMA or AU. Detected by content, not by name.',
  }),
  model: Type.String({ description: 'Id of a transcription model.', examples: ['svc-stt'] }),
  prompt: Type.Optional(
    Type.String({
      maxLength: PROMPT_CHARACTERS,
      description:
        'Preceding text or expected vocabulary, such as `Ahrensburg, HVV`: a hint for spelling and style.',
    }),
  ),
  response_format: Type.Optional(
    oneOf(FORMATS, { default: 'json', description: 'With `stream`: `json` or `text`.' }),
  ),
  temperature: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0,
      description: 'Sampling temperature. With 0, it is raised automatically if the text repeats itself.',
      examples: [0],
    }),
  ),
  stream: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Streams the text as server-sent events during transcription.',
    }),
  ),
  include: Type.Optional(
    Type.Array(oneOf(['logprobs']), {
      examples: [[]],
      description:
        '`logprobs` adds the tokens of the text with their log probabilities. Requires the `response_format` `json` or `verbose_json`.',
    }),
  ),
};

/** Settings of OpenAI's voice activity detection of files. */
const VadConfig = Type.Object({
  type: Type.Literal('server_vad'),
  threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  prefix_padding_ms: Type.Optional(Type.Number({ minimum: 0 })),
  silence_duration_ms: Type.Optional(Type.Number({ minimum: 0 })),
});
const VAD_CHECKER = TypeCompiler.Compile(VadConfig);

const Translation = Type.Object(COMMON);
const Transcription = Type.Object({
  ...COMMON,
  language: Type.Optional(
    Type.String({
      description:
        'Spoken language: an ISO 639-1 code, a tag such as `en-US` or an English name. Default: detected automatically.',
      examples: ['en'],
    }),
  ),
  timestamp_granularities: Type.Optional(
    Type.Array(oneOf(['word', 'segment']), {
      // Empty, because Swagger UI would otherwise send a value with every format.
      examples: [[]],
      description:
        'Granularities of timestamps, `segment` by default. Requires the `response_format` `verbose_json`.',
    }),
  ),
  languages: Type.Optional(
    Type.Array(Type.String({ examples: ['en'] }), {
      maxItems: MAX_LANGUAGES,
      examples: [[]],
      description:
        'Possible languages, written as `language`: only these are detected. With `language`, it must be one of them.',
    }),
  ),
  keywords: Type.Optional(
    Type.Array(Type.String({ examples: ['Ahrensburg'] }), {
      maxItems: MAX_KEYWORDS,
      examples: [[]],
      description:
        'Words and phrases that may occur: a hint for their spelling in the whole file. The model uses about the first 100 words.',
    }),
  ),
  chunking_strategy: Type.Optional(
    // Validated separately, because forms write objects in two ways.
    Type.Any({
      anyOf: [{ type: 'string', enum: ['auto'] }, VadConfig],
      description:
        '`auto`, or settings with the `type` `server_vad`. Without effect: long audio is always split at pauses.',
    }),
  ),
});
const SCHEMAS = { transcribe: Transcription, translate: Translation } satisfies Record<
  TranscriptionTask,
  TSchema
>;
const CHECKERS = {
  transcribe: TypeCompiler.Compile(Transcription),
  translate: TypeCompiler.Compile(Translation),
};

/** OpenAI fields that are not supported, with an alternative or reason. */
const UNAVAILABLE: ReadonlyMap<string, string> = new Map([
  ['known_speaker_names', 'speaker diarization is not available'],
  ['known_speaker_references', 'speaker diarization is not available'],
]);

/** Fields that may be repeated, once per value. */
export const LIST_FIELDS: ReadonlySet<string> = new Set([
  'include',
  'keywords',
  'languages',
  'timestamp_granularities',
]);
const CHOICES: ReadonlySet<string> = new Set(['response_format', 'timestamp_granularities', 'include']);

/** OpenAI's model whose answers differ: it has no streams, and the usage is a duration. */
export const WHISPER = 'whisper-1';

/** The validated parameters. */
export interface TranscriptionFormParams {
  readonly task: TranscriptionTask;
  readonly model: string;
  readonly file: StagedFile;
  readonly language: string | undefined;
  /** Languages that may be detected, as written by the client. */
  readonly languages: readonly string[] | undefined;
  readonly prompt: string | undefined;
  readonly keywords: readonly string[] | undefined;
  readonly temperature: number;
  readonly format: TranscriptFormat;
  /** Timestamps included in the response. */
  readonly shown: { readonly segments: boolean; readonly words: boolean };
  /** Whether the response includes the tokens with their log probabilities. */
  readonly logprobs: boolean;
  readonly stream: boolean;
}

/** The OpenAPI schema of the form of one of the two routes. */
export function transcriptionFormSchema(task: TranscriptionTask, fileBytes: number) {
  const { properties, required } = SCHEMAS[task];
  const file = {
    ...COMMON.file,
    description: `${COMMON.file.description} Maximum size: ${fileBytes} bytes.`,
  };
  const entries = Object.entries({ ...properties, file }).map(([name, schema]) => [
    LIST_FIELDS.has(name) ? `${name}[]` : name,
    schema,
  ]);
  return {
    type: 'object' as const,
    required,
    // Other fields are ignored, but a field without brackets must not be repeated.
    additionalProperties: { type: 'string' as const },
    properties: Object.fromEntries(entries),
  };
}

/**
 * Validates a form. Does not check whether the model exists.
 * @throws ServiceError `invalid_request` with the name of the field.
 */
export function parseTranscription(
  task: TranscriptionTask,
  form: FormFields<StagedFile>,
): TranscriptionFormParams {
  const fields = presentFields(form, SCHEMAS[task]);
  rejectUnavailable(fields);
  requireFile(fields);
  type Params = Static<typeof Transcription> & { readonly file: StagedFile };
  const params = validFields<Params>(fields, CHECKERS[task], { choices: CHOICES });
  checkChunking(params.chunking_strategy);
  const format = params.response_format ?? 'json';
  rejectContradictions(params, format);
  const granularities = params.timestamp_granularities ?? ['segment'];
  return {
    task,
    model: params.model,
    file: params.file,
    language: params.language,
    languages: params.languages,
    keywords: keywordsOf(params.keywords),
    prompt: params.prompt?.toWellFormed(),
    temperature: params.temperature ?? 0,
    format,
    shown: {
      segments: format === 'verbose_json' && granularities.includes('segment'),
      words: format === 'verbose_json' && granularities.includes('word'),
    },
    logprobs: params.include !== undefined,
    stream: params.stream === true && canStream(format),
  };
}

/**
 * Checks settings that have no effect, so that a client learns of its mistake here as well as at OpenAI. SDKs send the object as
 * fields with brackets, other clients as JSON.
 */
function checkChunking(strategy: unknown): void {
  if (strategy === undefined || strategy === 'auto') return;
  const settings = typeof strategy === 'string' ? parsedObject(strategy) : strategy;
  if (!isRecord(settings)) {
    throw invalidRequest(
      "'chunking_strategy' must be auto, or an object with the 'type' server_vad.",
      'chunking_strategy',
      'unsupported_value',
    );
  }
  const shown = (field: string) => `chunking_strategy.${field}`;
  validFields(presentFields(settings, VadConfig), VAD_CHECKER, { shown, choices: new Set(['type']) });
}

function parsedObject(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function keywordsOf(written: readonly string[] | undefined): readonly string[] | undefined {
  if (written === undefined) return undefined;
  const keywords = cleanKeywords(written);
  if (keywords === undefined)
    throw invalidRequest(`'keywords' must ${KEYWORDS_RULE}.`, 'keywords', 'invalid_value');
  return keywords;
}

function rejectUnavailable(fields: Record<string, unknown>): void {
  for (const [name, instead] of UNAVAILABLE) {
    if (!Object.hasOwn(fields, name)) continue;
    throw invalidRequest(`'${name}' is not supported: ${instead}.`, name, 'unsupported_parameter');
  }
  if (fields.response_format === DIARIZED) {
    const message = `'response_format' must be one of ${FORMATS.join(', ')}: speaker diarization is not available.`;
    throw invalidRequest(message, 'response_format', 'unsupported_value');
  }
}

function requireFile({ file }: Record<string, unknown>): void {
  if (!(file instanceof StagedFile)) {
    const code = file === undefined ? 'missing_required_parameter' : 'invalid_type';
    const expected = 'a single uploaded file (a form part with a file name)';
    throw invalidRequest(`'file' is required and must be ${expected}.`, 'file', code);
  }
  if (file.lengthBytes === 0) throw invalidRequest("The file in 'file' is empty.", 'file', 'invalid_value');
}

function rejectContradictions(params: Static<typeof Transcription>, format: TranscriptFormat): void {
  if (params.timestamp_granularities !== undefined && format !== 'verbose_json') {
    throw invalidRequest(
      "'timestamp_granularities' requires the 'response_format' verbose_json.",
      'timestamp_granularities',
      'invalid_value',
    );
  }
  if (params.include !== undefined && format !== 'json' && format !== 'verbose_json') {
    throw invalidRequest(
      "'include' requires the 'response_format' json or verbose_json.",
      'include',
      'invalid_value',
    );
  }
  // As at OpenAI, the field is ignored: gateways send it to every model.
  const isIgnored = params.model === WHISPER;
  if (params.stream && !canStream(format) && !isIgnored) {
    throw invalidRequest(
      "'response_format' must be json or text when 'stream' is true.",
      'response_format',
      'unsupported_value',
    );
  }
}

const canStream = (format: TranscriptFormat) => format === 'json' || format === 'text';
