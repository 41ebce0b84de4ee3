import type { AnyElysia } from 'elysia';
import type { Route } from '../contract/route.ts';

/** Adds routes to an app of the framework. @returns the app. */
export function mount<App extends AnyElysia>(app: App, routes: readonly Route[]): App {
  for (const route of routes) {
    app.route(
      route.method,
      route.path,
      // Asynchronous, and destructured: the framework decides by the text of a handler what to prepare for it.
      async ({ request, params, body, set }) => {
        return await route.handle({ request, params, body, set }, undefined);
      },
    );
  }
  return app;
}
