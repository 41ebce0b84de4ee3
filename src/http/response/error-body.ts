import { ElysiaCustomStatusResponse, ParseError } from 'elysia';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { newId } from '../../contract/core/id.ts';
import { quotedName } from '../../contract/core/nearest-name.ts';
import { isStorageFull, storageFull } from '../../kit/storage/disk-errors.ts';
import { SECURITY_HEADERS } from '../security/security-headers.ts';

/** The body of every error response (openai-wire 1.3). All four keys are always present. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

/** Converts an error to its response body. */
export function errorBody(error: ServiceError): ErrorBody {
  return {
    error: {
      message: error.message,
      type: error.type,
      param: error.param ?? null,
      code: error.code ?? null,
    },
  };
}

/** Response headers of an error: retry hints, and the headers that its HTTP status requires. */
export function errorHeaders(error: ServiceError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.retryAfterS !== undefined) headers['retry-after'] = String(Math.ceil(error.retryAfterS));
  // SDKs retry every 409 by default, but these conflicts are permanent (openai-wire 1.4, G2).
  if (error.kind === 'conflict') headers['x-should-retry'] = 'false';
  // RFC 9110, 15.5.16: a 415 for a content coding lists the supported ones.
  if (error.kind === 'unsupported_media_type' && error.param === 'Content-Encoding') {
    headers['accept-encoding'] = 'identity';
  }
  // The rest of the request is not read (RFC 9110, 15.5.9).
  if (error.kind === 'request_timeout') headers.connection = 'close';
  // RFC 9110, 15.5.22: a 426 names the required protocol.
  if (error.kind === 'upgrade_required') headers.upgrade = 'websocket';
  return headers;
}

/**
 * The error for a path without a route.
 * @param similar the path of a route that was probably meant.
 */
export function routeNotFound(path = '', similar?: string): ServiceError {
  const shown = quotedName(path) || ' The path';
  const hint = similar === undefined ? '' : ` Did you mean '${similar}'?`;
  const message = `${shown.slice(1)} is not offered by this service.${hint} GET /swagger lists all routes.`;
  return new ServiceError('not_found', message);
}

/** A complete error response, for code that runs outside the app. */
export function toErrorResponse(error: ServiceError): Response {
  const headers = { ...SECURITY_HEADERS, 'x-request-id': newId('req_'), ...errorHeaders(error) };
  return Response.json(errorBody(error), { status: error.status, headers });
}

/**
 * Converts any thrown value to an error that may be sent to the caller. Unexpected errors become a generic `internal` error,
 * because their messages may contain private data.
 */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (thrown instanceof ParseError) {
    // Elysia wraps errors of body parsers.
    if (thrown.cause instanceof ServiceError) return thrown.cause;
    return invalidRequest('The request body could not be read.');
  }
  if (thrown instanceof ElysiaCustomStatusResponse) return fromStatus(thrown.code);
  if (isStorageFull(thrown)) return storageFull(thrown);
  return new ServiceError('internal', 'Internal server error.', {
    code: 'server_error',
    cause: thrown,
  });
}

function fromStatus(status: number | string): ServiceError {
  switch (status) {
    case 404:
      return routeNotFound();
    case 415:
      return new ServiceError(
        'unsupported_media_type',
        'The content type is not supported by this endpoint.',
      );
    default:
      return new ServiceError('internal', 'Internal server error.', {
        code: 'server_error',
      });
  }
}
