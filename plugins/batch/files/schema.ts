/** Wire formats of files (openai-wire 2): the upload form, the list query and the file object. */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { FilePurpose, FileRecord } from '../../../src/contract/stores/file-store.ts';
import { UnixSeconds } from '../../../src/http/openapi/schemas.ts';
import { presentFields, validFields } from '../../../src/http/request/fields.ts';
import type { FormFields } from '../../../src/http/request/form-fields.ts';
import { choiceIn, type PageQuery, pageIn, readQuery } from '../../../src/http/request/query.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { StoredFile } from './stored-file.ts';

export const PURPOSES = ['batch', 'batch_output'] as const satisfies readonly FilePurpose[];
/** Entries per page. */
export const LIMIT = { minimum: 1, maximum: 10_000, fallback: 10_000 };

const ExpiresAfter = Type.Object({
  anchor: oneOf(['created_at'], { description: 'Start of the expiry time.' }),
  seconds: Type.Integer({
    minimum: 3600,
    maximum: 2_592_000,
    description: 'Seconds after which the file is deleted.',
    examples: [86_400],
  }),
});

const UploadForm = Type.Object({
  // Validated separately, because a file is not a JSON value. The schema is its OpenAPI documentation.
  file: Type.Any({
    type: 'string',
    format: 'binary',
    description: 'JSONL, one batch request per line. Any file name is accepted.',
  }),
  purpose: oneOf(['batch'], { description: 'Purpose of the file.' }),
  expires_after: Type.Optional(ExpiresAfter),
});
const checker = TypeCompiler.Compile(UploadForm);

/** The validated parameters of an upload. */
export interface UploadParams {
  readonly file: StoredFile;
  readonly purpose: 'batch';
  /** Undefined: the file does not expire. */
  readonly expiresAfterS: number | undefined;
}

/** The OpenAPI schema of the form: nested fields are named with brackets. */
export function uploadFormSchema(fileBytes: number) {
  const { file, purpose } = UploadForm.properties;
  const { anchor, seconds } = ExpiresAfter.properties;
  return {
    type: 'object' as const,
    required: ['file', 'purpose'],
    // Other fields are ignored, but a field without brackets must not be repeated.
    additionalProperties: { type: 'string' as const },
    properties: {
      file: { ...file, description: `${file.description} Maximum size: ${fileBytes} bytes.` },
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

/** @throws ServiceError `invalid_request` with the name of the field. */
export function parseUpload(form: FormFields<StoredFile>): UploadParams {
  const { file } = form;
  if (!(file instanceof StoredFile)) {
    const code = file === undefined ? 'missing_required_parameter' : 'invalid_type';
    const expected = 'a single uploaded file (a form part with a file name)';
    throw invalidRequest(`'file' is required and must be ${expected}.`, 'file', code);
  }
  const fields = presentFields(form, UploadForm);
  const { purpose, expires_after } = validFields<Static<typeof UploadForm>>(fields, checker, {
    choices: new Set(['purpose']),
  });
  return { file, purpose, expiresAfterS: expires_after?.seconds };
}

export interface FileQuery extends PageQuery {
  readonly purpose: FilePurpose | undefined;
}

/** @throws ServiceError `invalid_request` with the name of the parameter. */
export function parseFileQuery(request: Request): FileQuery {
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
    expires_at: Type.Union([Type.Integer(), orNull], { description: 'Null if the file does not expire.' }),
    filename: Type.String({ examples: ['lines.jsonl'] }),
    purpose: oneOf(PURPOSES, { description: '`batch_output`: result of a batch.' }),
    status: Type.Literal('processed', { description: 'Files need no processing.' }),
    status_details: orNull,
  },
  { title: 'File' },
);

/** The wire object of a file. */
export function toFileObject(file: FileRecord): Static<typeof FileObject> {
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
