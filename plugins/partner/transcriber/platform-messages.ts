/** What the service says to the platform (reference A.1): text frames of JSON. */

import { type Static, Type } from '@sinclair/typebox';
import type { ErrorKind } from '../../../src/contract/core/error.ts';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';

const strict = { additionalProperties: false } as const;

/** The words of the customer. A `partial` replaces the one before it, until the `final` of its turn. */
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

/** Something went wrong; the call goes on unless the socket is closed behind it. */
export const TranscriberErrorSchema = Type.Object(
  { type: Type.Literal('error'), error: Type.String({ description: 'What went wrong, in words.' }) },
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

/** Kinds whose messages speak of the inside. */
const INTERNAL: ReadonlySet<ErrorKind> = new Set(['internal']);

/** What the platform may read of a failure: only the messages of {@link ServiceError} are free of private text. */
export function tellable(error: unknown): string {
  if (error instanceof ServiceError && !INTERNAL.has(error.kind)) return error.message;
  return 'The server failed to do this. It is not your fault.';
}
