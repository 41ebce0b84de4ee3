/** Operations of HTTP routes, callable without HTTP: batch lines are executed in process (spec 2.2, 4.2). */

import type { Caller } from '../accounts/caller.ts';
import type { Calls } from '../accounts/calls.ts';
import type { Priority } from './engine.ts';

/** Endpoints that a batch may target (spec 2.2). */
export const OPERATION_URLS = ['/v1/chat/completions', '/v1/embeddings', '/v1/responses'] as const;
export type OperationUrl = (typeof OPERATION_URLS)[number];

/** Caller, priority and billing of an operation. */
export interface OperationContext {
  readonly caller: Caller;
  readonly priority: Extract<Priority, 'interactive' | 'batch'>;
  readonly calls: Calls;
}

export interface Operation {
  readonly url: OperationUrl;
  /**
   * Executes the operation like a POST of `body`, never as a stream: `stream` and `stream_options` are
   * ignored. Its calls are closed in `context.calls` before it resolves.
   * @param body parsed JSON, not validated.
   * @returns the JSON text of the response body, identical to that of the route.
   * @throws ServiceError the error that the route would return; the signal's reason after an abort.
   */
  execute(body: unknown, order: OperationContext, signal: AbortSignal): Promise<string>;
}

export interface OperationTable {
  get(url: OperationUrl): Operation;
}
