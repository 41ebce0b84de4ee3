/** Describes a path of the API once: its rules, its documentation and its handler. */

import type { TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import type { Caller } from '../contract/accounts/caller.ts';
import { invalidRequest } from '../contract/core/error.ts';
import type { Exchange, Route, RouteMethod, ServicesOf } from '../contract/route.ts';
import { firstIssue } from '../kit/validation/value-errors.ts';
import { type BodyDocs, operationOf, type Parameter, type Responses, schemaOf } from './openapi/operation.ts';
import { idempotencyKeyOf } from './request/idempotency-key.ts';
import { callerOf } from './security/caller.ts';

/** The query parameters of a route. */
export interface RouteQuery<Query> {
  readonly parameters: readonly Parameter[];
  /**
   * Absent if the body is read together with them.
   * @throws ServiceError `invalid_request` with the name of the parameter.
   */
  read?(request: Request): Query;
}

/** The body of the requests of a route. */
export interface RouteBody<Body> extends BodyDocs {
  /**
   * Validates the body. Absent if the handler does.
   * @param body a JSON object, the fields of a form, or null for an empty body.
   * @throws ServiceError for the first invalid field.
   */
  read?(body: object | null, request: Request): Body;
}

type NameIn<Path extends string> = Path extends `${infer One}/${infer Rest}`
  ? NameIn<One> | NameIn<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never;

/** A request whose query and body are valid. */
export interface RouteCall<Path extends string, Query, Body> extends Omit<Exchange, 'params' | 'body'> {
  readonly params: { readonly [Name in NameIn<Path>]: string };
  readonly query: Query;
  readonly body: Body;
  /** The caller. Throws on public routes. */
  readonly caller: Caller;
  /** Value of `Idempotency-Key`, if the route is `idempotent` and the request has the header. */
  readonly idempotencyKey: string | undefined;
}

interface Documented {
  readonly summary: string;
  readonly description: string;
  /** Group of the path in the OpenAPI document. */
  readonly tag: string;
  /** Responses by status. Those that all routes share are added. */
  readonly responses: Responses;
  readonly isHidden?: never;
}

/** A path that the OpenAPI document does not list. */
interface Hidden {
  readonly isHidden: true;
  readonly responses?: never;
}

export type RouteSpec<Path extends string, Query, Body, Services> = (Documented | Hidden) & {
  readonly method: RouteMethod;
  /** A pattern: `/v1/models/:model`, `/files/*`. */
  readonly path: Path;
  /** Served without an API key. */
  readonly isPublic?: true;
  /** A request may open a WebSocket. */
  readonly opensSocket?: true;
  /** The handler reads the body itself, of at most this size. */
  readonly upload?: { readonly maxBytes: number };
  /** The effect of a repeated `Idempotency-Key`, for the document. The header is ignored without it. */
  readonly idempotent?: string;
  /** Documentation of the parameters in the path. */
  readonly pathParameters?: readonly Parameter[];
  readonly query?: RouteQuery<Query>;
  readonly body?: RouteBody<Body>;
  /** Documentation of headers that the handler reads. */
  readonly headers?: readonly Parameter[];
  /**
   * Returns an object, which is sent as JSON, a text or a `Response`.
   * @param services what the plugin passes to its routes.
   */
  readonly handle: (call: RouteCall<Path, Query, Body>, services: Services) => unknown;
};

/**
 * The only way to add a path to the service. Requests are checked in this order: API key, method, size and syntax of the body
 * (request-hooks.ts), `Idempotency-Key`, query, body.
 */
export function route<const Path extends string, Query, Body, Services>(
  spec: RouteSpec<Path, Query, Body, Services>,
): Route<Services> {
  const { method, path, query, body, idempotent, responses = {} } = spec;
  return {
    method,
    path,
    isPublic: spec.isPublic ?? false,
    opensSocket: spec.opensSocket ?? false,
    uploadBytes: spec.upload?.maxBytes,
    // Built when the document is read: tests and switches of plugins build an app much more often.
    get operation() {
      return spec.isHidden ? undefined : operationOf({ ...spec, query: query?.parameters });
    },
    async handle({ request, params, body: parsed, set }, services) {
      const call = {
        request,
        set,
        params: params as { readonly [Name in NameIn<Path>]: string },
        idempotencyKey: idempotent === undefined ? undefined : idempotencyKeyOf(request),
        query: query?.read?.(request) as Query,
        body: body?.read?.(parsed as object | null, request) as Body,
        get caller() {
          return callerOf(request);
        },
      };
      const answer = await spec.handle(call, services);
      const schema = schemaOf(responses[Number(set.status ?? 200)]);
      if (schema !== undefined && !checkerOf(schema).Check(answer)) {
        throw new Error(`the response of ${method} ${path} violates its schema`);
      }
      return answer;
    },
  };
}

/** Connects the routes of a plugin with what their handlers work with. */
export function bind<Routes extends Route<never>>(
  routes: readonly Routes[],
  services: ServicesOf<Routes>,
): Route[] {
  // Each route takes a part of the services of all.
  return routes.map((each) => ({
    method: each.method,
    path: each.path,
    isPublic: each.isPublic,
    opensSocket: each.opensSocket,
    uploadBytes: each.uploadBytes,
    get operation() {
      return each.operation;
    },
    handle: (exchange) => each.handle(exchange, services as never),
  }));
}

/**
 * A JSON or form body without unknown fields, for the routes of this service that no other API defines. An empty body is an
 * empty object.
 */
export function strictBody<Body>(schema: TSchema): RouteBody<Body> {
  return {
    json: { schema },
    read(body) {
      const value = body ?? (schema.required === undefined ? {} : body);
      const issue = firstIssue(checkerOf(schema), value);
      if (issue === undefined) return value as Body;
      const { field, problem, code } = issue;
      if (field === '') throw invalidRequest(`The request body ${problem}.`, undefined, code);
      throw invalidRequest(`'${field}' ${problem}.`, field, code);
    },
  };
}

/** Checkers by schema: the app is built again whenever a plugin is switched, and compiling takes milliseconds. */
const checkers = new WeakMap<TSchema, TypeCheck<TSchema>>();

function checkerOf(schema: TSchema): TypeCheck<TSchema> {
  const known = checkers.get(schema);
  if (known !== undefined) return known;
  const checker = TypeCompiler.Compile(schema);
  checkers.set(schema, checker);
  return checker;
}
