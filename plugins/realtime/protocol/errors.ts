/** What a realtime client reads of anything that went wrong (spec 7; openai-wire 8.8). */

import { type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import { ERROR_TYPES, type RealtimeErrorCode, type RealtimeErrorType } from './error-codes.ts';
import type { ServerEvent } from './server-events.ts';

export type { RealtimeErrorCode } from './error-codes.ts';

/** Why a client event, or a field of one, was not accepted. */
export interface ProtocolError {
  readonly code: RealtimeErrorCode;
  /** What was wrong, where, and what is allowed; never what the client sent. */
  readonly message: string;
  /** Dotted name of the field (`session.audio.input.format`), or null when it is about the whole event. */
  readonly param: string | null;
}

/** The error of an event that is malformed, or that makes no sense now. */
export function invalidEvent(message: string, param: string | null = null): ProtocolError {
  return { code: 'invalid_request_error', message, param };
}

/** The error of what the protocol has and this service has not. */
export function unsupportedFeature(message: string, param: string | null = null): ProtocolError {
  return { code: 'unsupported_feature', message, param };
}

/**
 * The `error` event of a error.
 * @param eventId `event_id` of the client event that was refused; clients wait for it (openai-wire 8.8).
 */
export function errorEvent({ code, message, param }: ProtocolError, eventId: string | null): ServerEvent {
  return { type: 'error', error: { type: ERROR_TYPES[code], code, message, param, event_id: eventId } };
}

/** Why a transcription or a response ended badly, as its last event tells it. */
export interface WireError {
  readonly type: RealtimeErrorType;
  readonly code: RealtimeErrorCode;
  readonly message: string;
}

/** Kinds that say that the service itself is broken; every other one is a wireError of the model's work. */
const INTERNAL: ReadonlySet<ErrorKind> = new Set(['internal']);

/**
 * What the wire may say of an engine's wireError. Only the messages of {@link ServiceError} are free of private
 * text; whatever else was thrown becomes a plain `internal_error`.
 */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof ServiceError)) {
    return wireError('internal_error', 'The server failed to do this. It is not your fault.');
  }
  return wireError(INTERNAL.has(error.kind) ? 'internal_error' : 'upstream_error', error.message);
}

function wireError(code: RealtimeErrorCode, message: string): WireError {
  return { type: ERROR_TYPES[code], code, message };
}
