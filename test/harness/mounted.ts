import type { TSchema } from '@sinclair/typebox';
import { type AnyElysia, Elysia } from 'elysia';
import type { Route, RouteMethod } from '../../src/contract/route.ts';
import { mount } from '../../src/http/mount.ts';
import { checkedResponse } from '../../src/http/openapi/operation.ts';
import { type RouteBody, route, strictBody } from '../../src/http/route.ts';

/** An app with only these routes: without keys, limits and error bodies. */
export function mounted(routes: readonly Route[]) {
  return mount(new Elysia(), routes);
}

/** As the framework reads a body whose fields have defaults: an empty one has all other fields missing. */
function rawBody(schema: TSchema): RouteBody<unknown> {
  const strict = strictBody(schema);
  return { ...strict, read: (body, request) => strict.read?.(body ?? {}, request) };
}

/** The routes of an app of the framework, for tests that write them in its short form. */
export function routesOf(app: AnyElysia): readonly Route[] {
  return app.routes.map(({ method, path, handler, hooks }) => {
    const { body, response } = hooks ?? {};
    return route({
      method: method as RouteMethod,
      path,
      tag: 'service',
      summary: path,
      description: 'A route of a test.',
      ...(body && { body: rawBody(body) }),
      responses: { 200: response ? checkedResponse(response) : { description: 'Success' } },
      handle: handler as (call: object) => unknown,
    });
  });
}
