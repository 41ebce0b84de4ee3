import { Elysia } from 'elysia';
import type { Route } from '../../src/contract/route.ts';
import { mount } from '../../src/http/mount.ts';

/** An app with only these routes: without keys, limits and error bodies. */
export function mounted(routes: readonly Route[]) {
  return mount(new Elysia(), routes);
}
