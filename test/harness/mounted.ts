import { type AnyElysia, Elysia } from 'elysia';
import type { Route, RouteMethod } from '../../src/contract/route.ts';
import { mount } from '../../src/http/mount.ts';
import { checkedResponse } from '../../src/http/openapi/operation.ts';
import { route, strictBody } from '../../src/http/route.ts';

/** An app with only these routes: without keys, limits and error bodies. */
export function mounted(routes: readonly Route[]) {
  return mount(new Elysia(), routes);
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
      ...(body && { body: strictBody(body) }),
      responses: { 200: response ? checkedResponse(response) : { description: 'Success' } },
      handle: handler as (call: object) => unknown,
    });
  });
}
