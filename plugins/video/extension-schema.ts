/** The fields of POST /v1/videos/extensions in wire names, and their validation (spec 4.6; openai-wire 7 and 10, V1–V5). */

import { Type } from '@sinclair/typebox';
import { type ErrorCode, invalidRequest, type ServiceError } from '../../src/contract/core/error.ts';
import { type ModelTable, requireModel } from '../../src/contract/model-table.ts';
import { type FormFields, shortened } from '../../src/http/request/form-fields.ts';
import { codePoints } from '../../src/kit/validation/code-points.ts';
import { isRecord } from '../../src/kit/validation/is-record.ts';
import { unknownProblem } from '../../src/kit/validation/type-errors.ts';
import { formatRange } from './clips/clip-rules.ts';
import { windowOf } from './clips/model-windows.ts';
import { StagedClip } from './job/work-folder.ts';

const PROMPT_CHARACTERS = 32_000;
const FIELDS = ['model', 'prompt', 'seconds', 'video'];

/** OpenAPI schemas of the fields. */
export const ExtensionFields = {
  model: Type.String({
    description: 'Id of a video model. Required, although the type of OpenAI’s SDK does not have this field.',
    examples: ['vid-2.0'],
  }),
  prompt: Type.String({
    minLength: 1,
    maxLength: PROMPT_CHARACTERS,
    description:
      'Description of the continuation, passed to the model unchanged. To include the original footage in the output, request it here.',
    examples: ['The camera keeps panning over the harbour.'],
  }),
  seconds: Type.String({
    pattern: '^[1-9][0-9]*$',
    description:
      'Length of the new segment in whole seconds: 4 to 15, with `vid-2.5` 4 to 30. Excludes the clip; `auto` is not supported.',
    examples: ['8'],
  }),
};

/** The source of the clip. */
export type ClipSource =
  | { readonly kind: 'upload'; readonly clip: StagedClip }
  | { readonly kind: 'job'; readonly id: string }
  | { readonly kind: 'url'; readonly url: string };

/** The validated parameters. */
export interface ExtensionParams {
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number;
  readonly source: ClipSource;
}

/**
 * Validates all fields except the clip itself.
 * @param body fields of a form or of JSON; null means empty.
 * @throws ServiceError `invalid_request` with the name of the field.
 */
export function parseExtension(body: object | null, models: ModelTable<unknown>): ExtensionParams {
  const fields = presentFields(body);
  rejectUnknown(fields);
  const model = modelOf(fields.model, models);
  const prompt = promptOf(fields.prompt);
  return { model, prompt, seconds: secondsOf(fields.seconds, model), source: sourceOf(fields.video) };
}

/**
 * Validates the fields that precede a file in a form, before the file is uploaded.
 * @throws ServiceError as {@link parseExtension}.
 */
export function validateEarlyFields(earlier: FormFields<object>, models: ModelTable<unknown>): void {
  const fields = presentFields(earlier);
  rejectUnknown(fields);
  const model = fields.model === undefined ? undefined : modelOf(fields.model, models);
  if (fields.prompt !== undefined) promptOf(fields.prompt);
  if (fields.seconds !== undefined && model !== undefined) secondsOf(fields.seconds, model);
}

/**
 * Validates the field of a file, before its bytes are read.
 * @param position 1-based index of the file in the form.
 * @throws ServiceError `invalid_request` for a file in another field, and for a second file.
 */
export function checkFileField(name: string, position: number): void {
  if (name !== 'video') {
    throw fieldError(
      shortened(name),
      "must not be a file; upload the file in the field 'video'",
      'invalid_type',
    );
  }
  if (position > 1) throw fieldError('video', 'must be given exactly once', 'invalid_value');
}

/** Fields with a value; null is treated as absent. */
function presentFields(body: object | null): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body ?? {}).filter(([, value]) => value !== null));
}

function rejectUnknown(fields: Record<string, unknown>): void {
  for (const name of Object.keys(fields)) {
    if (FIELDS.includes(name)) continue;
    if (name === 'audio') {
      throw fieldError(
        'audio',
        'is not supported: models with audio always generate it',
        'unsupported_parameter',
      );
    }
    throw fieldError(shortened(name), unknownProblem(name, FIELDS), 'unknown_parameter');
  }
}

function modelOf(value: unknown, models: ModelTable<unknown>): string {
  if (value === undefined) {
    throw fieldError(
      'model',
      `is required: the id of a video model (${models.ids.join(', ')}). The type of OpenAI's SDK does not have this field, but the SDK sends it`,
      'missing_required_parameter',
    );
  }
  if (typeof value !== 'string') throw fieldError('model', 'must be a string', 'invalid_type');
  requireModel(models, value);
  return value;
}

function promptOf(value: unknown): string {
  const rule = `a string of 1 to ${PROMPT_CHARACTERS} characters`;
  if (value === undefined) throw missingField('prompt', rule);
  if (typeof value !== 'string') throw fieldError('prompt', `must be ${rule}`, 'invalid_type');
  if (value === '') throw fieldError('prompt', `must be ${rule}`, 'invalid_value');
  // A code point has at most two UTF-16 code units.
  if (value.length > 2 * PROMPT_CHARACTERS || codePoints(value) > PROMPT_CHARACTERS) {
    throw fieldError('prompt', `must be ${rule}`, 'string_above_max_length');
  }
  return value.toWellFormed();
}

function secondsOf(value: unknown, model: string): number {
  const { segmentS } = windowOf(model);
  const rule = `a whole number as a string, such as "${segmentS.minimum}": the length of the new segment, ${formatRange(segmentS)} with '${model}'`;
  if (value === undefined) throw missingField('seconds', rule);
  if (typeof value !== 'string') throw fieldError('seconds', `must be ${rule}`, 'invalid_type');
  const seconds = /^[1-9]\d{0,5}$/.test(value) ? Number(value) : Number.NaN;
  if (seconds >= segmentS.minimum && seconds <= segmentS.maximum) return seconds;
  throw fieldError('seconds', `must be ${rule}`, 'invalid_value');
}

const SOURCE_RULE =
  'a file, the id of one of your completed videos, or an https URL: as a form field, or as {"id": "video_…"} or {"url": "https://…"}';

/** Parses every format of the source (openai-wire 7). */
function sourceOf(value: unknown): ClipSource {
  if (value === undefined) throw missingField('video', SOURCE_RULE);
  if (value instanceof StagedClip) {
    if (value.lengthBytes === 0) throw fieldError('video', 'is an empty file', 'invalid_value');
    return { kind: 'upload', clip: value };
  }
  if (typeof value === 'string') return sourceFromString(value.trim());
  if (isRecord(value)) return sourceFromObject(value);
  throw fieldError('video', `must be ${SOURCE_RULE}`, 'invalid_type');
}

function sourceFromString(text: string): ClipSource {
  if (text.startsWith('video_')) return { kind: 'job', id: text };
  if (/^https?:/i.test(text)) return { kind: 'url', url: text };
  const parsed = text.startsWith('{') ? parseJson(text) : undefined;
  if (isRecord(parsed)) return sourceFromObject(parsed);
  throw fieldError('video', `must be ${SOURCE_RULE}`, 'invalid_value');
}

function sourceFromObject(fields: Readonly<Record<string, unknown>>): ClipSource {
  const given = Object.entries(fields).filter(([, value]) => value !== null);
  const [name, value] = given[0] ?? [];
  if (given.length === 1 && typeof value === 'string') {
    if (name === 'id') return { kind: 'job', id: value };
    if (name === 'url') return { kind: 'url', url: value };
  }
  throw fieldError('video', `must be ${SOURCE_RULE}`, 'invalid_value');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function missingField(field: string, rule: string): ServiceError {
  return fieldError(field, `is required and must be ${rule}`, 'missing_required_parameter');
}

function fieldError(field: string, problem: string, code: ErrorCode): ServiceError {
  return invalidRequest(`'${field}' ${problem}.`, field, code);
}
