/** The body of POST /v1/batches in wire names, and its conversion to parameters (spec 4.2; openai-wire 3). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Id } from '../../../src/contract/core/id.ts';
import { OPERATION_URLS, type OperationUrl } from '../../../src/contract/engines/operation.ts';
import { checkedBody } from '../../../src/http/request/json-body.ts';
import { checkMetadata, MetadataSchema } from '../../../src/http/request/metadata.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';

/** Completion window of a batch (spec 8). */
export const WINDOW = '24h';
export const WINDOW_S = 86_400;

const optional = Type.Optional;

/** Validates the body and documents it in OpenAPI. Null is treated as absent. */
export const BatchBody = Type.Object({
  input_file_id: Type.String({
    description: 'Id of a file uploaded with purpose `batch`: JSONL, one request per line.',
    examples: ['file-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'],
  }),
  endpoint: oneOf(OPERATION_URLS, { description: 'Endpoint that every line calls.' }),
  completion_window: optional(
    Type.Literal(WINDOW, { default: WINDOW, description: 'Maximum duration of the batch.' }),
  ),
  metadata: optional(MetadataSchema),
  output_expires_after: optional(
    Type.Object(
      {
        anchor: Type.Literal('created_at'),
        seconds: Type.Integer({ minimum: 3600, maximum: 2_592_000, examples: [86_400] }),
      },
      { description: 'Time after creation at which the result files are deleted. Default: never.' },
    ),
  ),
});

const checker = TypeCompiler.Compile(BatchBody);

/** The validated parameters of a new batch. */
export interface BatchParams {
  readonly inputFile: Id<'file-'>;
  readonly endpoint: OperationUrl;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly outputExpiresAfterS: number | undefined;
}

/**
 * Validates a body. Does not check whether the input file exists.
 * @throws ServiceError `invalid_request` with the name of the field.
 */
export function parseBatchParams(body: unknown): BatchParams {
  const fields = checkedBody<Static<typeof BatchBody>>(body, checker);
  checkMetadata(fields.metadata ?? {});
  return {
    // The store checks whether the file exists.
    inputFile: fields.input_file_id as Id<'file-'>,
    endpoint: fields.endpoint,
    metadata: fields.metadata ?? null,
    outputExpiresAfterS: fields.output_expires_after?.seconds,
  };
}
