/** Wire formats of stored voices (spec 2.5, 4.4): the enrollment form, the list query and the voice object. */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../src/contract/core/error.ts';
import type { NamedVoice } from '../../src/contract/engines/named-voice.ts';
import type { VoiceRecord } from '../../src/contract/stores/voice-store.ts';
import { UnixSeconds } from '../../src/http/openapi/schemas.ts';
import { presentFields } from '../../src/http/request/fields.ts';
import type { FormFields } from '../../src/http/request/form-fields.ts';
import { StagedFile } from '../../src/http/request/multipart.ts';
import { booleanIn, type PageQuery, pageIn, readQuery } from '../../src/http/request/query.ts';
import { listBody } from '../../src/http/response/bodies.ts';
import { oneOf } from '../../src/kit/validation/type-errors.ts';
import { firstIssue } from '../../src/kit/validation/value-errors.ts';
import { type ClipWarning, WARNING_CODES } from './checks/clip-warnings.ts';
import { CLIP_FIELD } from './clips/uploaded-clip.ts';

/** Entries per page. */
export const LIMIT = { minimum: 1, maximum: 100, fallback: 20 };

const EnrollmentForm = Type.Object(
  {
    // Validated separately, because a file is not a JSON value. The schema is its OpenAPI documentation.
    audio_sample: Type.Any({
      type: 'string',
      format: 'binary',
      description:
        'A clip of 5 to 15 seconds with clear speech of one person: WAV (recommended), MP3, M4A or MP4. Detected by content, not by name.',
    }),
    consent: Type.String({
      minLength: 1,
      maxLength: 2000,
      description:
        'Your confirmation that the speaker consents, or that you have the rights, to create and use this synthetic voice. It is stored. A single negative word, such as `false` or `denied`, is rejected; sentences are not interpreted.',
      examples: ['I have the consent of the speaker.'],
    }),
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Display name.',
      examples: ['Anna, calm'],
    }),
    ref_text: Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'Exact transcript of the clip.',
      examples: ['Ask not what your country can do for you.'],
    }),
    speaker_description: Type.Optional(
      Type.String({
        maxLength: 2000,
        description: 'Notes on the speaker, accent or style.',
        examples: ['A woman of about forty, British'],
      }),
    ),
    type: Type.Optional(
      oneOf(['audio_sample'], {
        default: 'audio_sample',
        description: 'Only `audio_sample` is supported.',
      }),
    ),
  },
  { additionalProperties: false },
);
const checker = TypeCompiler.Compile(EnrollmentForm);

/** Text fields that must not be blank. */
const REQUIRED_TEXTS = ['consent', 'name', 'ref_text'] as const;
/** Values of `consent` that mean that there is no consent. */
const NEGATIVE_WORDS: ReadonlySet<string> = new Set([
  ...['false', 'no', 'n', 'f', '0', 'off', 'none', 'null', 'undefined', 'nil', 'never'],
  ...['denied', 'declined', 'refused', 'rejected', 'disagree', 'unchecked'],
]);

/** The validated parameters. */
export interface EnrollmentParams {
  readonly file: StagedFile;
  readonly consent: string;
  readonly name: string;
  readonly refText: string;
  readonly speakerDescription: string | undefined;
}

/** The OpenAPI schema of the form. */
export function enrollmentFormSchema(clipBytes: number) {
  const { audio_sample: clip, ...rest } = EnrollmentForm.properties;
  const described = { ...clip, description: `${clip.description} Maximum size: ${clipBytes} bytes.` };
  return { ...EnrollmentForm, properties: { audio_sample: described, ...rest } };
}

/** @throws ServiceError `invalid_request` with the name of the field. */
export function parseEnrollment(form: FormFields<StagedFile>): EnrollmentParams {
  const fields = presentFields(form, EnrollmentForm);
  // Checked first, because other types have other fields, whose errors would be misleading.
  if (fields.type !== undefined) requireAudioSample(fields.type);
  const file = fileOf(form);
  const issue = firstIssue(checker, fields);
  if (issue !== undefined)
    throw invalidRequest(`'${issue.field}' ${issue.problem}.`, issue.field, issue.code);
  const params = fields as Static<typeof EnrollmentForm>;
  for (const name of REQUIRED_TEXTS) requireNonBlank(name, params[name]);
  rejectControlCharacters('name', params.name, /\p{Cc}/u);
  for (const name of ['consent', 'ref_text', 'speaker_description'] as const) {
    // Line breaks and tabs are allowed in these fields.
    rejectControlCharacters(name, params[name], /[^\P{Cc}\t\n\r]/u);
  }
  requireConsent(params.consent);
  return {
    file,
    consent: params.consent.trim(),
    name: params.name.trim(),
    refText: params.ref_text.trim(),
    speakerDescription: params.speaker_description?.trim() || undefined,
  };
}

function requireAudioSample(type: unknown): void {
  if (type === 'audio_sample') return;
  const message = '\'type\' must be "audio_sample": voices can only be created from clips.';
  throw invalidRequest(message, 'type', 'unsupported_value');
}

function fileOf({ [CLIP_FIELD]: file }: FormFields<StagedFile>): StagedFile {
  if (!(file instanceof StagedFile)) {
    const code = file === undefined ? 'missing_required_parameter' : 'invalid_type';
    const expected = 'a single uploaded file (a form part with a file name)';
    throw invalidRequest(`'${CLIP_FIELD}' is required and must be ${expected}.`, CLIP_FIELD, code);
  }
  if (file.lengthBytes === 0) {
    throw invalidRequest(`The file in '${CLIP_FIELD}' is empty.`, CLIP_FIELD, 'invalid_value');
  }
  return file;
}

function requireNonBlank(name: string, text: string): void {
  if (text.trim() === '') throw invalidRequest(`'${name}' must not be blank.`, name, 'invalid_value');
}

function rejectControlCharacters(name: string, text: string | undefined, forbidden: RegExp): void {
  if (text === undefined || !forbidden.test(text)) return;
  throw invalidRequest(`'${name}' must not contain control characters.`, name, 'invalid_value');
}

function requireConsent(consent: string): void {
  const word = consent.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  if (word !== '' && !NEGATIVE_WORDS.has(word)) return;
  throw invalidRequest(
    "'consent' must confirm that the speaker consents or that you have the rights. Without consent, no voice can be created.",
    'consent',
    'invalid_value',
  );
}

/** A query of the list: with a model, it lists the voices of that model instead of stored voices. */
export interface VoiceQuery extends PageQuery {
  readonly model: string | undefined;
  /** Whether `voices` has ids instead of objects: a parameter of Kokoro-FastAPI. */
  readonly legacy: boolean;
}

/** @throws ServiceError `invalid_request` with the name of the parameter. */
export function parseVoiceQuery(request: Request): VoiceQuery {
  const { model, legacy, ...page } = readQuery(request, ['limit', 'order', 'after', 'model', 'legacy']);
  // A model has fewer voices than the maximum, so that clients without paging get all of them.
  const limits = model === undefined ? LIMIT : { ...LIMIT, fallback: LIMIT.maximum };
  return { ...pageIn(page, limits), model, legacy: booleanIn('legacy', legacy?.toLowerCase()) ?? false };
}

export const VoiceObject = Type.Object(
  {
    voice_id: Type.String({
      description: 'Value of `voice` in speech requests and realtime sessions.',
      examples: ['tts-vc-voice_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'],
    }),
    id: Type.String({
      description: 'Equal to `voice_id`.',
      examples: ['tts-vc-voice_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'],
    }),
    object: Type.Literal('audio.voice'),
    type: Type.Literal('audio_sample'),
    name: Type.String({ examples: ['Anna, calm'] }),
    format: Type.String({ description: 'Format of the upload: wav, mp3 or mp4.', examples: ['wav'] }),
    created_at: UnixSeconds,
    has_ref_text: Type.Boolean({ examples: [true] }),
    duration_s: Type.Number({ description: 'Length of the decoded clip, in seconds.', examples: [8.25] }),
    sample_rate: Type.Integer({ description: 'Sample rate of the upload, in Hz.', examples: [44_100] }),
    size_bytes: Type.Integer({ description: 'Size of the upload.', examples: [727_694] }),
    speaker_description: Type.Optional(Type.String({ examples: ['A woman of about forty, British'] })),
  },
  { title: 'Voice' },
);

export const NamedVoiceObject = Type.Object(
  {
    voice_id: Type.String({ description: 'Value of `voice` in requests to the model.', examples: ['nova'] }),
    id: Type.String({ description: 'Equal to `voice_id`.', examples: ['nova'] }),
    object: Type.Literal('audio.voice'),
    type: Type.Literal('preset'),
    name: Type.String({ examples: ['Nova'] }),
    language: Type.String({ description: 'BCP 47 tag.', examples: ['en-US'] }),
    gender: Type.Optional(oneOf(['female', 'male'], { description: 'Absent if the model does not tell.' })),
    preset: Type.Optional(
      Type.String({
        description: 'The voice of the model that is heard, if it has another name.',
        examples: ['af_nova'],
      }),
    ),
  },
  { title: 'Voice of a model' },
);

/** What Open WebUI and clients of Kokoro-FastAPI read. */
export const VoiceNames = Type.Array(
  Type.Union([
    Type.Object({ id: Type.String({ examples: ['nova'] }), name: Type.String({ examples: ['nova'] }) }),
    Type.String({ description: 'Its id, with `legacy=true`.', examples: ['nova'] }),
  ]),
  {
    description:
      'All voices that requests can name: those of the models with `voices = "presets"` (on the first page), whose `name` is their `id` as in Kokoro-FastAPI, then those of `data`. For clients of other speech servers, such as Open WebUI.',
  },
);

/** The wire object of a voice of a model. */
export function namedVoiceObject(voice: NamedVoice): Static<typeof NamedVoiceObject> {
  const { id, name, language, gender, preset } = voice;
  return {
    voice_id: id,
    id,
    object: 'audio.voice',
    type: 'preset',
    name,
    language,
    ...(gender !== undefined && { gender }),
    ...(preset !== undefined && { preset }),
  };
}

/** A page of the list. @param named voices that are only listed by name. */
export function voicesBody(
  data: readonly (Static<typeof VoiceObject> | Static<typeof NamedVoiceObject>)[],
  hasMore: boolean,
  { legacy }: Pick<VoiceQuery, 'legacy'>,
  named: readonly NamedVoice[] = [],
) {
  const names = [
    ...named.map(({ id }) => ({ id, name: id })),
    ...data.map(({ id, type, name }) => ({ id, name: type === 'preset' ? id : name })),
  ];
  return { ...listBody(data, hasMore), voices: legacy ? names.map(({ id }) => id) : names };
}

export const NewVoiceObject = Type.Object(
  {
    ...VoiceObject.properties,
    warnings: Type.Array(
      Type.Object({
        code: oneOf(WARNING_CODES),
        message: Type.String({ examples: ["The signal-to-noise ratio of 'audio_sample' is only 12 dB."] }),
      }),
      { description: 'Quality problems of the clip. Usually empty.' },
    ),
  },
  { title: 'New voice' },
);

/** The wire object of a voice. */
export function voiceObject(voice: VoiceRecord): Static<typeof VoiceObject> {
  return {
    voice_id: voice.id,
    id: voice.id,
    object: 'audio.voice',
    type: 'audio_sample',
    name: voice.name,
    format: voice.format,
    created_at: voice.createdAt,
    has_ref_text: voice.refText !== '',
    duration_s: voice.durationS,
    sample_rate: voice.sampleRateHz,
    size_bytes: voice.lengthBytes,
    ...(voice.speakerDescription !== undefined && { speaker_description: voice.speakerDescription }),
  };
}

export function newVoiceObject(
  voice: VoiceRecord,
  warnings: readonly ClipWarning[],
): Static<typeof NewVoiceObject> {
  return { ...voiceObject(voice), warnings: [...warnings] };
}
