/** The body of POST /v1/batches in wire names, and how it becomes a request (spec 4.2; openai-wire 3). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { Id } from '../../../src/contract/core/id.ts';
import { OPERATION_URLS, type OperationUrl } from '../../../src/contract/engines/operation.ts';
import { checkedBody } from '../../../src/http/request/json-body.ts';
import { checkMetadata, MetadataSchema } from '../../../src/http/request/metadata.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';

/** How long a batch may take (spec 8). */
export const WINDOW = '24h';
export const WINDOW_S = 86_400;

const optional = Type.Optional;

/** The rules, and what Swagger shows. Null is as good as absent. */
export const BatchBody = Type.Object(
  {
    input_file_id: Type.String({
      description: 'A file that was uploaded with the purpose `batch`: one JSON object a line.',
      examples: ['file-5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'],
    }),
    endpoint: oneOf(OPERATION_URLS, { description: 'What every line asks.' }),
    completion_window: optional(
      Type.Literal(WINDOW, { default: WINDOW, description: 'How long it may take.' }),
    ),
    metadata: optional(MetadataSchema),
    output_expires_after: optional(
      Type.Object(
        {
          anchor: Type.Literal('created_at'),
          seconds: Type.Integer({ minimum: 3600, maximum: 2_592_000, examples: [86_400] }),
        },
        {
          additionalProperties: false,
          description: 'When the result files are deleted, counted from their creation; without it, never.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);

const checker = TypeCompiler.Compile(BatchBody);

/** A checked request. */
export interface BatchAsk {
  readonly inputFile: Id<'file'>;
  readonly endpoint: OperationUrl;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly outputExpiresAfterS: number | undefined;
}

/**
 * Checks a body against every rule that needs no look at stored files.
 * @throws ServiceError `invalid_request` that names the field.
 */
export function parseBatch(body: unknown): BatchAsk {
  const fields = checkedBody<Static<typeof BatchBody>>(body, checker);
  checkMetadata(fields.metadata ?? {});
  return {
    // Whether there is such a file, the store says.
    inputFile: fields.input_file_id as Id<'file'>,
    endpoint: fields.endpoint,
    metadata: fields.metadata ?? null,
    outputExpiresAfterS: fields.output_expires_after?.seconds,
  };
}
