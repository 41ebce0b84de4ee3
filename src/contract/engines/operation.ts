/** What an HTTP route does, callable without HTTP: a batch line runs it in process (spec 2.2, 4.2). */

import type { Caller } from '../accounts/caller.ts';
import type { Calls } from '../accounts/calls.ts';
import type { Priority } from './engine.ts';

/** Endpoints that a batch may target (spec 2.2). */
export const OPERATION_URLS = ['/v1/chat/completions', '/v1/embeddings', '/v1/responses'] as const;
export type OperationUrl = (typeof OPERATION_URLS)[number];

/** For whom something is done, how urgently, and where it is billed. */
export interface OperationContext {
  readonly caller: Caller;
  readonly priority: Extract<Priority, 'interactive' | 'batch'>;
  readonly calls: Calls;
}

export interface Operation {
  readonly url: OperationUrl;
  /**
   * Does what a POST of `body` does, never as a stream: `stream` and `stream_options` are ignored. Its usage is
   * closed in `order.calls` before it resolves.
   * @param body parsed JSON, unchecked.
   * @returns the JSON text of the answer's body, byte for byte what the route sends.
   * @throws ServiceError what the route would answer; the signal's reason after an abort.
   */
  execute(body: unknown, order: OperationContext, signal: AbortSignal): Promise<string>;
}

export interface OperationTable {
  get(url: OperationUrl): Operation;
}
