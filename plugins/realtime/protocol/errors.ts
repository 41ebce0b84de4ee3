/** Errors of the realtime protocol (spec 7; openai-wire 8.8). */

import { type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import { ERROR_TYPES, type RealtimeErrorCode, type RealtimeErrorType } from './error-codes.ts';
import type { ServerEvent } from './server-events.ts';

export type { RealtimeErrorCode } from './error-codes.ts';

/** An error that rejects a client event or one of its fields. */
export interface ProtocolError {
  readonly code: RealtimeErrorCode;
  /** States the problem, the location and the allowed values. Never contains client data. */
  readonly message: string;
  /** Dotted name of the field (`session.audio.input.format`); null if the error concerns the whole event. */
  readonly param: string | null;
}

/** Creates the error of an event that is malformed or not allowed in the current state. */
export function invalidEvent(message: string, param: string | null = null): ProtocolError {
  return { code: 'invalid_request_error', message, param };
}

/** Creates the error for a feature of the protocol that this service does not support. */
export function unsupportedFeature(message: string, param: string | null = null): ProtocolError {
  return { code: 'unsupported_feature', message, param };
}

/**
 * Creates an `error` event.
 * @param eventId `event_id` of the rejected client event; clients wait for it (openai-wire 8.8).
 */
export function errorEvent({ code, message, param }: ProtocolError, eventId: string | null): ServerEvent {
  return { type: 'error', error: { type: ERROR_TYPES[code], code, message, param, event_id: eventId } };
}

/** Error of a failed transcription or response, as sent in its final event. */
export interface WireError {
  readonly type: RealtimeErrorType;
  readonly code: RealtimeErrorCode;
  readonly message: string;
}

/** Error kinds that indicate a failure of the service itself. All others are failures of the model. */
const INTERNAL: ReadonlySet<ErrorKind> = new Set(['internal']);

/**
 * Converts an error to its wire form. Only the messages of {@link ServiceError} contain no private text; any
 * other error becomes a generic `internal_error`.
 */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof ServiceError)) {
    return wireError('internal_error', 'Internal server error.');
  }
  return wireError(INTERNAL.has(error.kind) ? 'internal_error' : 'upstream_error', error.message);
}

function wireError(code: RealtimeErrorCode, message: string): WireError {
  return { type: ERROR_TYPES[code], code, message };
}
