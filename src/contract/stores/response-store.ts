/**
 * Stored responses of `POST /v1/responses` with their input, per organization (spec 2.3, openai-wire 6.11).
 */

import { invalidRequest } from '../core/error.ts';
import type { Id } from '../core/id.ts';

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** An input or output item in its wire form. The store reads only the id and stores all of it. */
export interface StoredItem {
  readonly id: string;
}

/**
 * A response object in its wire form, with wire names. The store reads only these fields and returns the
 * whole object, as JSON preserves it.
 */
export interface StoredResponse {
  readonly id: Id<'resp_'>;
  /** Unix seconds. */
  readonly created_at: number;
  readonly status: ResponseStatus;
  readonly previous_response_id: string | null;
  readonly output: readonly StoredItem[];
}

export interface ItemPage {
  readonly items: readonly StoredItem[];
  readonly hasMore: boolean;
}

/**
 * Rejects duplicate input item ids.
 * @throws ServiceError `invalid_request` (param `input`) if two input items have the same id.
 */
export function rejectDuplicateItems(input: readonly StoredItem[]): void {
  const ids = new Set(input.map(({ id }) => id));
  if (ids.size === input.length) return;
  throw invalidRequest(
    'Two input items have the same id. Remove one, or send items without ids.',
    'input',
    'invalid_value',
  );
}

/** Resources of other organizations are treated as missing. */
export interface ResponseStore {
  /**
   * Stores a new response, usually `in_progress`, with its own input, without the input of earlier responses.
   * @throws ServiceError `invalid_request` (param `input`) if two input items have the same id.
   */
  put(organization: string, response: StoredResponse, input: readonly StoredItem[]): Promise<void>;
  /**
   * Replaces the object while it is in progress; the first final status is kept.
   * @returns false if the response does not exist or is not in progress.
   */
  update(organization: string, response: StoredResponse): Promise<boolean>;
  get(organization: string, id: string): Promise<StoredResponse | undefined>;
  /**
   * Deletes a response and its items. Responses that continue from it remain, but cannot be continued: see
   * {@link chain}.
   * @returns false if it does not exist.
   */
  delete(organization: string, id: string): Promise<boolean>;
  /**
   * Lists the input items of a response; undefined if the response does not exist.
   * @param query.after id of the last item of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) if the response has no such item.
   */
  inputItems(
    organization: string,
    id: string,
    query: { limit: number; order: 'asc' | 'desc'; after?: string | undefined },
  ): Promise<ItemPage | undefined>;
  /** Returns an input or output item of a response; the first one if several have this id. */
  item(organization: string, response: string, id: string): Promise<StoredItem | undefined>;
  /**
   * Returns the context for a response that continues from this one: input and output of each response of the
   * chain, oldest first, ending with `id`. Failed and incomplete responses count with the output they have.
   * @throws ServiceError `invalid_request` (param `previous_response_id`): code `previous_response_not_found`
   *   if a response of the chain does not exist, `context_length_exceeded` if the chain exceeds 1000
   *   responses or 16 million characters of JSON.
   */
  chain(organization: string, id: string): Promise<readonly StoredItem[]>;
  /**
   * Records that `in_progress` responses are being worked on.
   * @param at Unix seconds.
   */
  recordHeartbeat(ids: readonly Id<'resp_'>[], at: number): Promise<void>;
  /**
   * Lists `in_progress` responses of all organizations whose last heartbeat (or creation) is older than
   * `before`, because their process has exited. Oldest first.
   * @param before Unix seconds.
   */
  listStale(
    before: number,
    limit: number,
  ): Promise<readonly { organization: string; response: StoredResponse }[]>;
}
