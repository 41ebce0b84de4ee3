/** Paths of the HTTP API: the interface between the core and the features that serve them. */

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A request that reached its route, as the framework passes it. */
export interface Exchange {
  readonly request: Request;
  /** Values of the parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The JSON object or the fields of a form; null if the body is empty or the route reads it itself. */
  readonly body: unknown;
  /** Status and headers of the response. The headers are also sent with an error. */
  readonly set: { status?: number | string; readonly headers: Record<string, string | number> };
}

/**
 * One method of one path, with everything that the service needs to know about it. Created by `route()` of src/http/route.ts.
 * @typeParam Services what its handler works with; a plugin creates it when it starts, but its paths are known before.
 */
export interface Route<Services = unknown> {
  readonly method: RouteMethod;
  /** A pattern: `/v1/models/:model`, `/files/*`. */
  readonly path: string;
  /** Whether it is served without an API key. */
  readonly isPublic: boolean;
  /** Whether a request may open a WebSocket. */
  readonly opensSocket: boolean;
  /** Maximum size in bytes of a body that the route reads itself; undefined if the service reads the body. */
  readonly uploadBytes: number | undefined;
  /** The operation of the OpenAPI document; undefined for a path that the document does not list. */
  readonly operation: Readonly<Record<string, unknown>> | undefined;
  /** Handles a request. Rejects with a `ServiceError` for errors that the caller may read. */
  readonly handle: (exchange: Exchange, services: Services) => Promise<unknown>;
}

/** What the handlers of all these routes work with. @typeParam Routes a route, or a union of routes. */
export type ServicesOf<Routes extends Route<never>> = (
  Routes extends Route<infer Services>
    ? (services: Services) => void
    : never
) extends (services: infer All) => void
  ? All
  : never;
