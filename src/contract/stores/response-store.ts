/** Stored answers of `POST /v1/responses` with what was asked, per organization (spec 2.3, openai-wire 6.11). */

import { invalidRequest } from '../core/error.ts';
import type { Id } from '../core/id.ts';

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** An input or output item as the wire shows it; the store reads its id only and keeps all of it. */
export interface StoredItem {
  readonly id: string;
}

/**
 * A response object as the wire shows it, hence its names. The store reads these fields only and gives back all
 * that it was given, as JSON keeps it.
 */
export interface StoredResponse {
  readonly id: Id<'response'>;
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

/** @throws ServiceError `invalid_request` (param `input`) when two input items have the same id. */
export function rejectDuplicateItems(input: readonly StoredItem[]): void {
  const ids = new Set(input.map(({ id }) => id));
  if (ids.size === input.length) return;
  throw invalidRequest(
    'Two items of the input have the same id. Leave one out, or send items without ids.',
    'input',
    'invalid_value',
  );
}

/** What belongs to another organization is answered as if it did not exist. */
export interface ResponseStore {
  /**
   * Stores a new response, usually `in_progress`, with its own input: not that of the responses before it.
   * @throws ServiceError `invalid_request` (param `input`) when two input items have the same id.
   */
  put(organization: string, response: StoredResponse, input: readonly StoredItem[]): Promise<void>;
  /**
   * Replaces the object while it is in progress, as often as wanted: its first end is the one that counts. False
   * when there is none in progress, such as after its end or a deletion.
   */
  update(organization: string, response: StoredResponse): Promise<boolean>;
  get(organization: string, id: string): Promise<StoredResponse | undefined>;
  /**
   * Forgets a response and its items. Those that continue from it stay, but nobody can continue from them any
   * more: see {@link chain}. False when there is none.
   */
  delete(organization: string, id: string): Promise<boolean>;
  /**
   * Input items of one response; undefined when there is no such response.
   * @param query.after id of the last item of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) when no such item belongs to the response.
   */
  inputItems(
    organization: string,
    id: string,
    query: { limit: number; order: 'asc' | 'desc'; after?: string | undefined },
  ): Promise<ItemPage | undefined>;
  /** An input or output item of one response; of several with this id the first. */
  item(organization: string, response: string, id: string): Promise<StoredItem | undefined>;
  /**
   * What a response that continues from this one builds on: input and then output of every response of the
   * chain, oldest first, `id`'s own last. A failed or incomplete one counts with the output that it has.
   * @throws ServiceError `invalid_request` (param `previous_response_id`): code `previous_response_not_found` when
   *   there is no such response or one before it was deleted, `context_length_exceeded` when the chain is longer
   *   than is kept in memory (1000 responses, 16 million characters of JSON).
   */
  chain(organization: string, id: string): Promise<readonly StoredItem[]>;
  /**
   * Says that responses which are `in_progress` are being worked on.
   * @param at Unix seconds.
   */
  recordHeartbeat(ids: readonly Id<'response'>[], at: number): Promise<void>;
  /**
   * Responses of every organization that are `in_progress` and whose {@link recordHeartbeat}, or creation, is longer ago: their
   * process is gone. Oldest first.
   * @param before Unix seconds.
   */
  listStale(
    before: number,
    limit: number,
  ): Promise<readonly { organization: string; response: StoredResponse }[]>;
}
