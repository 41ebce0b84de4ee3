/** Files in wire names (openai-wire 2): the form of an upload, the query of a list, the object of a file. */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { FilePurpose, FileRecord } from '../../../src/contract/stores/file-store.ts';
import { UnixSeconds } from '../../../src/http/openapi/schemas.ts';
import type { FormFields } from '../../../src/http/request/form-fields.ts';
import { choiceIn, pageIn, readQuery } from '../../../src/http/request/query.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { firstIssue } from '../../../src/kit/validation/value-errors.ts';
import { StoredFile } from './stored-file.ts';

const PURPOSES = ['batch', 'batch_output'] as const satisfies readonly FilePurpose[];
const LIMIT = { minimum: 1, maximum: 10_000, fallback: 10_000 };

const ExpiresAfter = Type.Object(
  {
    anchor: oneOf(['created_at'], { description: 'From when on seconds count.' }),
    seconds: Type.Integer({
      minimum: 3600,
      maximum: 2_592_000,
      description: 'After which the file is deleted.',
      examples: [86_400],
    }),
  },
  { additionalProperties: false },
);

const UploadForm = Type.Object(
  {
    // Checked by hand: a file is no JSON. This is what documentation calls one.
    file: Type.Any({
      type: 'string',
      format: 'binary',
      description: 'JSONL: one request of a batch in each line. Any name is taken.',
    }),
    purpose: oneOf(['batch'], { description: 'What the file is for.' }),
    expires_after: Type.Optional(ExpiresAfter),
  },
  { additionalProperties: false },
);
const checker = TypeCompiler.Compile(UploadForm);

/** A checked upload. */
export interface UploadAsk {
  readonly file: StoredFile;
  readonly purpose: 'batch';
  /** Undefined is never. */
  readonly expiresAfterS: number | undefined;
}

/** What Swagger shows of the form: a group of fields is named with brackets. */
export function uploadFormSchema(fileBytes: number) {
  const { file, purpose } = UploadForm.properties;
  const { anchor, seconds } = ExpiresAfter.properties;
  return {
    type: 'object' as const,
    required: ['file', 'purpose'],
    additionalProperties: false,
    properties: {
      file: { ...file, description: `${file.description} At most ${fileBytes} bytes.` },
      purpose,
      'expires_after[anchor]': anchor,
      'expires_after[seconds]': seconds,
    },
    dependentRequired: {
      'expires_after[anchor]': ['expires_after[seconds]'],
      'expires_after[seconds]': ['expires_after[anchor]'],
    },
  };
}

/** @throws ServiceError `invalid_request` that names the field. */
export function parseUpload(form: FormFields<StoredFile>): UploadAsk {
  const { file } = form;
  if (!(file instanceof StoredFile)) {
    const code = file === undefined ? 'missing_required_parameter' : 'invalid_type';
    const wanted = 'one uploaded file, a part of the form with a file name';
    throw invalidRequest(`'file' is required and must be ${wanted}.`, 'file', code);
  }
  const fields = withNumbers({ ...form, file: null });
  const fault = firstIssue(checker, fields);
  if (fault !== undefined) {
    const isChoice = fault.field === 'purpose' && fault.code === 'invalid_value';
    const code = isChoice ? 'unsupported_value' : fault.code;
    throw invalidRequest(`'${fault.field}' ${fault.problem}.`, fault.field, code);
  }
  const { purpose, expires_after } = fields as Static<typeof UploadForm>;
  return { file, purpose, expiresAfterS: expires_after?.seconds };
}

/** A form has texts only: what says how many seconds becomes a number. */
function withNumbers(form: Record<string, unknown>): Record<string, unknown> {
  const { expires_after: group } = form;
  if (!isRecord(group) || typeof group.seconds !== 'string' || !/^\d{1,15}$/.test(group.seconds)) return form;
  return { ...form, expires_after: { ...group, seconds: Number(group.seconds) } };
}

/** @throws ServiceError `invalid_request` that names the parameter. */
export function parseFileQuery(request: Request) {
  const query = readQuery(request, ['limit', 'order', 'after', 'purpose']);
  return { ...pageIn(query, LIMIT), purpose: choiceIn('purpose', query.purpose, PURPOSES) };
}

const orNull = Type.Null();
export const FileObject = Type.Object(
  {
    id: Type.String({ examples: ['file-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'] }),
    object: Type.Literal('file'),
    bytes: Type.Integer({ minimum: 0, examples: [1024] }),
    created_at: UnixSeconds,
    expires_at: Type.Union([Type.Integer(), orNull], { description: 'Null: never.' }),
    filename: Type.String({ examples: ['lines.jsonl'] }),
    purpose: oneOf(PURPOSES, { description: 'batch_output: made by a batch.' }),
    status: Type.Literal('processed', { description: 'There is nothing to wait for.' }),
    status_details: orNull,
  },
  { title: 'File' },
);

/** A file as clients see it. */
export function fileObject(file: FileRecord): Static<typeof FileObject> {
  return {
    id: file.id,
    object: 'file',
    bytes: file.lengthBytes,
    created_at: file.createdAt,
    expires_at: file.expiresAt ?? null,
    filename: file.filename,
    purpose: file.purpose,
    status: 'processed',
    status_details: null,
  };
}
