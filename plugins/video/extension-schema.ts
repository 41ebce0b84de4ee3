/** The fields of POST /v1/videos/extensions in wire names, and their rules (spec 4.6; openai-wire 7 and 10, V1–V5). */

import { Type } from '@sinclair/typebox';
import { type ErrorCode, invalidRequest, type ServiceError } from '../../src/contract/core/error.ts';
import { type ModelTable, requireModel } from '../../src/contract/model-table.ts';
import { type FormFields, shortened } from '../../src/http/request/form-fields.ts';
import { codePoints } from '../../src/kit/validation/code-points.ts';
import { isRecord } from '../../src/kit/validation/is-record.ts';
import { shownRange } from './clips/clip-rules.ts';
import { windowOf } from './clips/model-windows.ts';
import { StagedClip } from './job/work-folder.ts';

const PROMPT_CHARACTERS = 32_000;
const FIELDS = ['model', 'prompt', 'seconds', 'video'];

/** What Swagger shows. */
export const ExtensionFields = {
  model: Type.String({
    description: 'Id of a video model. Required, although OpenAI’s SDK has no such field in its type.',
    examples: ['vid-2.0'],
  }),
  prompt: Type.String({
    minLength: 1,
    maxLength: PROMPT_CHARACTERS,
    description:
      'What happens next, handed to the model word for word. To have the original footage in the output, say so here.',
    examples: ['The camera keeps panning over the harbour.'],
  }),
  seconds: Type.String({
    pattern: '^[1-9][0-9]*$',
    description:
      'Length of the new segment alone, in whole seconds: 4 to 15, with `vid-2.5` 4 to 30. Never that of both together, never `auto`.',
    examples: ['8'],
  }),
};

/** What is to be continued. */
export type ClipSource =
  | { readonly kind: 'upload'; readonly clip: StagedClip }
  | { readonly kind: 'job'; readonly id: string }
  | { readonly kind: 'url'; readonly url: string };

/** A checked request. */
export interface ExtensionAsk {
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number;
  readonly source: ClipSource;
}

/**
 * Checks every rule that needs no look at the clip.
 * @param body of a form or of JSON; null is none.
 * @throws ServiceError `invalid_request` that names the field.
 */
export function parseExtension(body: object | null, models: ModelTable<unknown>): ExtensionAsk {
  const fields = presentFields(body);
  requireKnown(fields);
  const model = modelOf(fields.model, models);
  const prompt = promptOf(fields.prompt);
  return { model, prompt, seconds: secondsOf(fields.seconds, model), source: sourceOf(fields.video) };
}

/**
 * Checks what came before a file, so that nobody sends one for nothing.
 * @throws ServiceError as {@link parseExtension} would of these fields.
 */
export function checkEarly(earlier: FormFields<object>, models: ModelTable<unknown>): void {
  const fields = presentFields(earlier);
  requireKnown(fields);
  const model = fields.model === undefined ? undefined : modelOf(fields.model, models);
  if (fields.prompt !== undefined) promptOf(fields.prompt);
  if (fields.seconds !== undefined && model !== undefined) secondsOf(fields.seconds, model);
}

/**
 * Checks the field that a file is in, before its bytes.
 * @param place of the file among those of the form, from 1.
 * @throws ServiceError `invalid_request` for a file in the place of another field, and for a second one.
 */
export function checkFileField(name: string, place: number): void {
  if (name !== 'video') {
    throw refused(shortened(name), "must not be a file: the file of this form is 'video'", 'invalid_type');
  }
  if (place > 1) throw refused('video', 'must be given once', 'invalid_value');
}

/** Fields that have a value; null means absent. */
function presentFields(body: object | null): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body ?? {}).filter(([, value]) => value !== null));
}

function requireKnown(fields: Record<string, unknown>): void {
  for (const name of Object.keys(fields)) {
    if (FIELDS.includes(name)) continue;
    const shown = shortened(name);
    if (name === 'audio') {
      throw refused('audio', 'is no parameter: models that make sound always do', 'unsupported_parameter');
    }
    throw refused(shown, `is not known; allowed here: ${FIELDS.join(', ')}`, 'unknown_parameter');
  }
}

function modelOf(value: unknown, models: ModelTable<unknown>): string {
  if (value === undefined) {
    throw refused(
      'model',
      `is required: the id of a video model (${models.ids.join(', ')}). OpenAI's SDK has no such field in its type, and sends it all the same`,
      'missing_required_parameter',
    );
  }
  if (typeof value !== 'string') throw refused('model', 'must be a string', 'invalid_type');
  requireModel(models, value);
  return value;
}

function promptOf(value: unknown): string {
  const rule = `a string of 1 to ${PROMPT_CHARACTERS} characters`;
  if (value === undefined) throw missing('prompt', rule);
  if (typeof value !== 'string') throw refused('prompt', `must be ${rule}`, 'invalid_type');
  if (value === '') throw refused('prompt', `must be ${rule}`, 'invalid_value');
  // Every code point has at most two of these.
  if (value.length > 2 * PROMPT_CHARACTERS || codePoints(value) > PROMPT_CHARACTERS) {
    throw refused('prompt', `must be ${rule}`, 'string_above_max_length');
  }
  return value.toWellFormed();
}

function secondsOf(value: unknown, model: string): number {
  const { segmentS } = windowOf(model);
  const rule = `a whole number as a string, such as "${segmentS.minimum}": the length of the new segment, ${shownRange(segmentS)} with '${model}'`;
  if (value === undefined) throw missing('seconds', rule);
  if (typeof value !== 'string') throw refused('seconds', `must be ${rule}`, 'invalid_type');
  const seconds = /^[1-9]\d{0,5}$/.test(value) ? Number(value) : Number.NaN;
  if (seconds >= segmentS.minimum && seconds <= segmentS.maximum) return seconds;
  throw refused('seconds', `must be ${rule}`, 'invalid_value');
}

const SOURCE_RULE =
  'a file, the id of a completed video of yours, or an https URL: as a part of the form, or as {"id": "video_…"} or {"url": "https://…"}';

/** Every form that a source may have (openai-wire 7). */
function sourceOf(value: unknown): ClipSource {
  if (value === undefined) throw missing('video', SOURCE_RULE);
  if (value instanceof StagedClip) {
    if (value.lengthBytes === 0) throw refused('video', 'is an empty file', 'invalid_value');
    return { kind: 'upload', clip: value };
  }
  if (typeof value === 'string') return sourceOfText(value.trim());
  if (isRecord(value)) return sourceOfObject(value);
  throw refused('video', `must be ${SOURCE_RULE}`, 'invalid_type');
}

function sourceOfText(text: string): ClipSource {
  if (text.startsWith('video_')) return { kind: 'job', id: text };
  if (/^https?:/i.test(text)) return { kind: 'url', url: text };
  const parsed = text.startsWith('{') ? parsedJson(text) : undefined;
  if (isRecord(parsed)) return sourceOfObject(parsed);
  throw refused('video', `must be ${SOURCE_RULE}`, 'invalid_value');
}

function sourceOfObject(fields: Readonly<Record<string, unknown>>): ClipSource {
  const given = Object.entries(fields).filter(([, value]) => value !== null);
  const [name, value] = given[0] ?? [];
  if (given.length === 1 && typeof value === 'string') {
    if (name === 'id') return { kind: 'job', id: value };
    if (name === 'url') return { kind: 'url', url: value };
  }
  throw refused('video', `must be ${SOURCE_RULE}`, 'invalid_value');
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function missing(field: string, rule: string): ServiceError {
  return refused(field, `is required and must be ${rule}`, 'missing_required_parameter');
}

function refused(field: string, problem: string, code: ErrorCode): ServiceError {
  return invalidRequest(`'${field}' ${problem}.`, field, code);
}
