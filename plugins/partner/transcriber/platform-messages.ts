/** Messages to the platform (reference A.1): JSON text frames. */

import { type Static, Type } from '@sinclair/typebox';
import type { ErrorKind } from '../../../src/contract/core/error.ts';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';

const strict = { additionalProperties: false } as const;

/** A transcript of the customer. A `partial` replaces the previous one, until the `final` of its turn. */
export const TranscriberResponseSchema = Type.Object(
  {
    type: Type.Literal('transcriber-response'),
    transcription: Type.String({ description: 'The whole turn so far, with punctuation.' }),
    channel: Type.Literal('customer'),
    transcriptType: oneOf(['partial', 'final']),
  },
  strict,
);
export type TranscriberResponse = Readonly<Static<typeof TranscriberResponseSchema>>;

/** An error. The call continues unless the socket is closed afterwards. */
export const TranscriberErrorSchema = Type.Object(
  { type: Type.Literal('error'), error: Type.String({ description: 'Human-readable error message.' }) },
  strict,
);
export type TranscriberError = Readonly<Static<typeof TranscriberErrorSchema>>;

export type PlatformMessage = TranscriberResponse | TranscriberError;

export function transcriptMessage(
  transcriptType: TranscriberResponse['transcriptType'],
  transcription: string,
): TranscriberResponse {
  return { type: 'transcriber-response', transcription, channel: 'customer', transcriptType };
}

export function errorMessage(error: string): TranscriberError {
  return { type: 'error', error };
}

/** Error kinds whose messages contain internal details. */
const INTERNAL: ReadonlySet<ErrorKind> = new Set(['internal']);

/** The public message of an error: only messages of {@link ServiceError} are free of private data. */
export function publicMessage(error: unknown): string {
  if (error instanceof ServiceError && !INTERNAL.has(error.kind)) return error.message;
  return 'Internal server error.';
}
