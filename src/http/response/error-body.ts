import { ElysiaCustomStatusResponse, ParseError, ValidationError } from 'elysia';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { newId } from '../../contract/core/id.ts';
import { schemaFault } from '../../kit/validation/type-errors.ts';
import { SECURITY_HEADERS } from '../security/security-headers.ts';

/** The one body of every failed request (contract; openai-wire 1.3): all four keys, always. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

/** The wire form of a failure. */
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

/** Response headers that belong to a failure: waiting time, "do not retry" for permanent conflicts, and what else its status asks for. */
export function errorHeaders(error: ServiceError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.retryAfterS !== undefined) headers['retry-after'] = String(Math.ceil(error.retryAfterS));
  // SDKs retry every 409; ours never goes away by itself (openai-wire 1.4, G2).
  if (error.kind === 'conflict') headers['x-should-retry'] = 'false';
  // RFC 9110, 15.5.16: what would have been read.
  if (error.kind === 'unsupported_media_type' && error.param === 'Content-Encoding') {
    headers['accept-encoding'] = 'identity';
  }
  // What is still to come of the request is not waited for (RFC 9110, 15.5.9).
  if (error.kind === 'request_timeout') headers.connection = 'close';
  // RFC 9110, 15.5.22: a 426 names what is spoken here.
  if (error.kind === 'upgrade_required') headers.upgrade = 'websocket';
  return headers;
}

/** The refusal of a path that does not exist. */
export function nothingHere(): ServiceError {
  return new ServiceError('not_found', 'There is nothing at this address.');
}

/** A failure as a whole answer, for places where no app is at work. */
export function errorAnswer(error: ServiceError): Response {
  const headers = { ...SECURITY_HEADERS, 'x-request-id': newId('request'), ...errorHeaders(error) };
  return Response.json(errorBody(error), { status: error.status, headers });
}

/**
 * What a caller may know of anything that was thrown. Errors that are not ours become a plain `internal`
 * one: their message may hold private text, so it is neither sent nor kept in the answer.
 */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  // An answer of ours that breaks its own schema is no fault of the caller.
  if (thrown instanceof ValidationError && thrown.type !== 'response') return fromValidation(thrown);
  if (thrown instanceof ParseError) {
    // Elysia wraps what a body parser throws.
    if (thrown.cause instanceof ServiceError) return thrown.cause;
    return invalidRequest('The request body could not be read.');
  }
  if (thrown instanceof ElysiaCustomStatusResponse) return fromStatus(thrown.code);
  return new ServiceError('internal', 'The server failed to answer this request. It is not your fault.', {
    code: 'server_error',
    cause: thrown,
  });
}

function fromValidation(thrown: ValidationError): ServiceError {
  const where = thrown.type === 'body' ? 'The request body' : `The ${thrown.type}`;
  const fault = thrown.valueError === undefined ? undefined : schemaFault(thrown.valueError);
  if (fault === undefined) return invalidRequest(`${where} is not valid.`);
  const subject = fault.field === '' ? where : `'${fault.field}'`;
  return invalidRequest(
    `${subject} ${fault.problem}.`,
    fault.field === '' ? undefined : fault.field,
    fault.code,
  );
}

function fromStatus(status: number | string): ServiceError {
  switch (status) {
    case 404:
      return nothingHere();
    case 415:
      return new ServiceError('unsupported_media_type', 'This content type is not accepted here.');
    default:
      return new ServiceError('internal', 'The server failed to answer this request.', {
        code: 'server_error',
      });
  }
}
