import type { AnyElysia } from 'elysia';
import type { ServingPhase } from '../src/http/routes/serving-phase.ts';
import { startingResponse } from '../src/http/server/starting.ts';
import { type ConnectionServer, setServerOf } from '../src/http/transport/connection-server.ts';

/** What the listeners serve: the progress of the start, then the app. */
export class Front {
  phase: ServingPhase = 'serving';
  /** Plugins that `/readyz` shows as starting. */
  awaited: readonly string[];
  #buildApp: (() => AnyElysia) | undefined;
  #app: AnyElysia | undefined;

  constructor(awaited: readonly string[]) {
    this.awaited = awaited;
  }

  /** Serves an app from now on. @param buildApp called now, and again by {@link rebuild}. */
  serve(buildApp: () => AnyElysia): void {
    this.#buildApp = buildApp;
    this.rebuild();
  }

  /** Replaces the app after a change of the running plugins. Running requests stay in the app that received them. */
  rebuild(): void {
    this.#app = this.#buildApp?.();
  }

  readonly fetch = (request: Request, server: ConnectionServer): Response | Promise<Response> => {
    setServerOf(server, request);
    return this.#app?.fetch(request) ?? startingResponse(request, this.awaited);
  };
}
