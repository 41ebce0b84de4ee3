/** The operation of a route in the OpenAPI document. */

import type { TSchema } from '@sinclair/typebox';
import { ERROR_KINDS, type ErrorCode, type ErrorKind, ServiceError } from '../../contract/core/error.ts';
import { type ErrorBody, errorBody } from '../response/error-body.ts';
import { errorResponse, idempotencyKey } from './route-docs.ts';
import { type SampledSchema, sampleOf } from './schema-sample.ts';

/** A parameter in the path, the query or a header. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example?: unknown;
}

/** Documentation of the body of a request. Swagger UI offers its content types in this order. */
export interface BodyDocs {
  readonly json?: { readonly schema: object; readonly examples?: object };
  /** Schema of a multipart form. */
  readonly form?: object;
}

/** Documentation of the body of one content type. */
interface Content {
  readonly schema?: SampledSchema & { readonly format?: string };
  readonly example?: unknown;
  readonly examples?: object;
}

/** Documentation of a response. */
export interface ResponseDocs {
  readonly description: string;
  readonly content?: Readonly<Record<string, Content>>;
}

/** Responses by status. The text of an error becomes an error response. */
export type Responses = Readonly<Record<number, ResponseDocs | string>>;

const SCHEMA = Symbol('schema');

/** A JSON response that is checked before it is sent: one that violates the schema becomes an error 500. */
export function checkedResponse(schema: TSchema, description = 'Success'): ResponseDocs {
  const content = { 'application/json': { schema } };
  return { description, content, [SCHEMA]: schema } as ResponseDocs;
}

/** The schema of a {@link checkedResponse}; undefined for others. */
export function schemaOf(response: ResponseDocs | string | undefined): TSchema | undefined {
  return typeof response === 'object' ? (response as { readonly [SCHEMA]?: TSchema })[SCHEMA] : undefined;
}

export interface Described {
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly responses: Responses;
  readonly isPublic?: boolean | undefined;
  readonly opensSocket?: boolean | undefined;
  readonly upload?: { readonly maxBytes: number } | undefined;
  readonly idempotent?: string | undefined;
  readonly pathParameters?: readonly Parameter[] | undefined;
  readonly query?: readonly Parameter[] | undefined;
  readonly headers?: readonly Parameter[] | undefined;
  readonly body?: BodyDocs | undefined;
}

/**
 * The operation of a route, with the responses that all routes share (401 and 429 where a key is required, 400, 413 and 415
 * where there is a body) and an example for each JSON body.
 */
export function operationOf(route: Described): Record<string, unknown> {
  const { summary, description, tag, body, idempotent, isPublic = false } = route;
  const key = idempotent === undefined ? undefined : [idempotencyKey(idempotent)];
  const given = [route.pathParameters, route.query, route.headers, key].filter((each) => each !== undefined);
  const requestBody = body && requestBodyOf(body);
  return {
    tags: [tag],
    summary,
    description,
    ...(given.length > 0 && { parameters: given.flat() }),
    ...(requestBody && { requestBody }),
    ...(isPublic && { security: [] }),
    ...(route.upload && { 'x-upload-max-bytes': route.upload.maxBytes }),
    ...(route.opensSocket && { 'x-websocket': true }),
    responses: responsesOf(route.responses, !isPublic, body !== undefined),
  };
}

function requestBodyOf(body: BodyDocs) {
  const { json, form } = body;
  const content: Record<string, Content> = {};
  for (const kind of Object.keys(body)) {
    if (kind === 'json' && json !== undefined) {
      content['application/json'] = withExample(json);
    }
    if (kind === 'form' && form !== undefined) content['multipart/form-data'] = { schema: form };
  }
  // Without a required field, no body is needed.
  const required = Object.values(content).some(({ schema }) => !isOptional(schema));
  return { required, content };
}

function isOptional(schema: SampledSchema | undefined): boolean {
  return schema?.type === 'object' && (schema.required ?? []).length === 0;
}

const KEY_FAILURES: Responses = {
  401: 'Missing or invalid API key',
  429: 'Rate limit exceeded; retry after `retry-after` seconds',
};
const BODY_FAILURES: Responses = {
  400: 'Invalid request body; `param` is the field',
  413: 'Request body too large',
  415: 'Unsupported content type',
};

function responsesOf(responses: Responses, needsKey: boolean, hasBody: boolean) {
  const all = { ...(needsKey && KEY_FAILURES), ...(hasBody && BODY_FAILURES), ...responses };
  return Object.fromEntries(
    Object.entries(all).map(([status, given]) => [status, responseOf(status, given)]),
  );
}

function responseOf(status: string, given: ResponseDocs | string): ResponseDocs {
  const response = typeof given === 'string' ? errorResponse(given) : given;
  const json: Content | undefined = response.content?.['application/json'];
  if (json === undefined) return response;
  const isError = json.schema?.properties?.error !== undefined;
  const shown = isError ? { ...json, example: errorExample(status, response.description) } : json;
  return { ...response, content: { ...response.content, 'application/json': withExample(shown) } };
}

function withExample(content: Content): Content {
  const { schema, example, examples } = content;
  if (schema === undefined || examples !== undefined || example !== undefined) return content;
  return { ...content, example: sampleOf(schema) };
}

/** The most common error code of each status. */
const COMMON_CODES: Readonly<Record<string, ErrorCode>> = {
  400: 'missing_required_parameter',
  401: 'invalid_api_key',
  403: 'permission_denied',
  413: 'payload_too_large',
  429: 'rate_limit_exceeded',
  500: 'server_error',
  502: 'upstream_error',
  503: 'server_overloaded',
};

/** Example of an error response, with the description of the response as its message. */
function errorExample(status: string, description: string): ErrorBody | undefined {
  const kinds = Object.keys(ERROR_KINDS) as ErrorKind[];
  const kind = kinds.findLast((each) => ERROR_KINDS[each].status === Number(status));
  if (kind === undefined) return undefined;
  const param = status === '400' ? 'model' : undefined;
  const message =
    status === '400' ? "'model' is required and must be a string." : `${description.replaceAll('`', '')}.`;
  return errorBody(new ServiceError(kind, message, { param, code: COMMON_CODES[status] }));
}
