/** Stored voices in wire names (spec 2.5, 4.4): the form of an enrollment, the query of a list, the object of a voice. */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../src/contract/core/error.ts';
import type { VoiceRecord } from '../../src/contract/stores/voice-store.ts';
import { UnixSeconds } from '../../src/http/openapi/schemas.ts';
import type { FormFields } from '../../src/http/request/form-fields.ts';
import { StagedFile } from '../../src/http/request/multipart.ts';
import { type PageQuery, pageIn, readQuery } from '../../src/http/request/query.ts';
import { oneOf } from '../../src/kit/validation/type-errors.ts';
import { firstIssue } from '../../src/kit/validation/value-errors.ts';
import { type ClipWarning, WARNING_CODES } from './checks/clip-warnings.ts';
import { CLIP_FIELD } from './clips/uploaded-clip.ts';

const LIMIT = { minimum: 1, maximum: 100, fallback: 20 };

const EnrollmentForm = Type.Object(
  {
    // Checked by hand: a file is no JSON. This is what documentation calls one.
    audio_sample: Type.Any({
      type: 'string',
      format: 'binary',
      description:
        'A clip of 5 to 15 seconds in which one person speaks clearly: WAV, which is best, MP3, or M4A or MP4. Its content decides, not its name.',
    }),
    consent: Type.String({
      minLength: 1,
      maxLength: 2000,
      description:
        'Your acknowledgement that you have the consent of the speaker, or the rights, to make and use this synthetic voice. It is kept. A mere word that says no, such as `false` or `denied`, is refused; sentences are not judged.',
      examples: ['I have the consent of the speaker.'],
    }),
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A label for people.',
      examples: ['Anna, calm'],
    }),
    ref_text: Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'All that is said in the clip, word for word.',
      examples: ['Ask not what your country can do for you.'],
    }),
    speaker_description: Type.Optional(
      Type.String({
        maxLength: 2000,
        description: 'Notes on the speaker, the accent or the style.',
        examples: ['A woman of about forty, British'],
      }),
    ),
    type: Type.Optional(
      oneOf(['audio_sample'], {
        default: 'audio_sample',
        description: 'Voices are made of clips only.',
      }),
    ),
  },
  { additionalProperties: false },
);
const checker = TypeCompiler.Compile(EnrollmentForm);

/** Texts that must say something. */
const SAYING = ['consent', 'name', 'ref_text'] as const;
/** Answers of a form that mean that there is no consent. */
const REFUSALS: ReadonlySet<string> = new Set([
  ...['false', 'no', 'n', 'f', '0', 'off', 'none', 'null', 'undefined', 'nil', 'never'],
  ...['denied', 'declined', 'refused', 'rejected', 'disagree', 'unchecked'],
]);

/** A checked request. */
export interface EnrollmentAsk {
  readonly file: StagedFile;
  readonly consent: string;
  readonly name: string;
  readonly refText: string;
  readonly speakerDescription: string | undefined;
}

/** What Swagger shows of the form. */
export function enrollmentFormSchema(clipBytes: number) {
  const { audio_sample: clip, ...rest } = EnrollmentForm.properties;
  const described = { ...clip, description: `${clip.description} At most ${clipBytes} bytes.` };
  return { ...EnrollmentForm, properties: { audio_sample: described, ...rest } };
}

/** @throws ServiceError `invalid_request` that names the field. */
export function parseEnrollment(form: FormFields<StagedFile>): EnrollmentAsk {
  // Another kind of voice has other fields, which are not what is wrong.
  if (form.type !== undefined) requireKind(form.type);
  const file = fileOf(form);
  const fields = { ...form, [CLIP_FIELD]: null };
  const fault = firstIssue(checker, fields);
  if (fault !== undefined)
    throw invalidRequest(`'${fault.field}' ${fault.problem}.`, fault.field, fault.code);
  const asked = fields as Static<typeof EnrollmentForm>;
  for (const name of SAYING) requireWords(name, asked[name]);
  requirePlain('name', asked.name, /\p{Cc}/u);
  for (const name of ['consent', 'ref_text', 'speaker_description'] as const) {
    // Lines and tabs are as good as spaces there.
    requirePlain(name, asked[name], /[^\P{Cc}\t\n\r]/u);
  }
  requireConsent(asked.consent);
  return {
    file,
    consent: asked.consent.trim(),
    name: asked.name.trim(),
    refText: asked.ref_text.trim(),
    speakerDescription: asked.speaker_description?.trim() || undefined,
  };
}

function requireKind(type: unknown): void {
  if (type === 'audio_sample') return;
  const message = '\'type\' must be "audio_sample": voices are made of clips, not of descriptions.';
  throw invalidRequest(message, 'type', 'unsupported_value');
}

function fileOf({ [CLIP_FIELD]: file }: FormFields<StagedFile>): StagedFile {
  if (!(file instanceof StagedFile)) {
    const code = file === undefined ? 'missing_required_parameter' : 'invalid_type';
    const wanted = 'one uploaded file, a part of the form with a file name';
    throw invalidRequest(`'${CLIP_FIELD}' is required and must be ${wanted}.`, CLIP_FIELD, code);
  }
  if (file.lengthBytes === 0) {
    throw invalidRequest(`The file in '${CLIP_FIELD}' is empty.`, CLIP_FIELD, 'invalid_value');
  }
  return file;
}

function requireWords(name: string, text: string): void {
  if (text.trim() === '') throw invalidRequest(`'${name}' must not be blank.`, name, 'invalid_value');
}

function requirePlain(name: string, text: string | undefined, forbidden: RegExp): void {
  if (text === undefined || !forbidden.test(text)) return;
  throw invalidRequest(`'${name}' must not have control characters.`, name, 'invalid_value');
}

function requireConsent(consent: string): void {
  const word = consent.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  if (word !== '' && !REFUSALS.has(word)) return;
  throw invalidRequest(
    "'consent' must say that the speaker agrees, or that you have the rights: without that no voice can be made.",
    'consent',
    'invalid_value',
  );
}

/** @throws ServiceError `invalid_request` that names the parameter. */
export function parseVoiceQuery(request: Request): PageQuery {
  return pageIn(readQuery(request, ['limit', 'order', 'after']), LIMIT);
}

export const VoiceObject = Type.Object(
  {
    voice_id: Type.String({
      description: 'What `voice` of a speech request and of a realtime session names.',
      examples: ['tts-vc-voice_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'],
    }),
    id: Type.String({
      description: 'The same.',
      examples: ['tts-vc-voice_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'],
    }),
    object: Type.Literal('audio.voice'),
    type: Type.Literal('audio_sample'),
    name: Type.String({ examples: ['Anna, calm'] }),
    status: oneOf(['improving', 'ready'], {
      description: 'Both can be used. `improving`: the voice comes nearer to the speaker for a while.',
    }),
    format: Type.String({ description: 'Of the upload: wav, mp3 or mp4.', examples: ['wav'] }),
    created_at: UnixSeconds,
    has_ref_text: Type.Boolean({ examples: [true] }),
    duration_s: Type.Number({ description: 'Of the clip, as it was decoded.', examples: [8.25] }),
    sample_rate: Type.Integer({ description: 'Of the upload, in Hz.', examples: [44_100] }),
    size_bytes: Type.Integer({ description: 'Of the upload.', examples: [727_694] }),
    speaker_description: Type.Optional(Type.String({ examples: ['A woman of about forty, British'] })),
  },
  { title: 'Voice' },
);

export const NewVoiceObject = Type.Object(
  {
    ...VoiceObject.properties,
    warnings: Type.Array(
      Type.Object({
        code: oneOf(WARNING_CODES),
        message: Type.String({ examples: ['The voice is only 12 dB louder than the noise around it.'] }),
      }),
      { description: 'What makes the clip a poor pattern of the voice. Mostly empty.' },
    ),
  },
  { title: 'New voice' },
);

/** A voice as clients see it. */
export function voiceObject(voice: VoiceRecord): Static<typeof VoiceObject> {
  return {
    voice_id: voice.id,
    id: voice.id,
    object: 'audio.voice',
    type: 'audio_sample',
    name: voice.name,
    status: voice.isImproving ? 'improving' : 'ready',
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
