import { ServiceError } from '../../client/service-error.ts';
import type { InputItem, ResponseBody } from './response-wire.ts';

/** Maximum number of responses that are loaded. */
export const MAX_LOADED_TURNS = 20;

/** A stored response with its input. */
export interface StoredResponse {
  readonly input: readonly InputItem[];
  readonly response: ResponseBody;
}

/**
 * Loads a stored response and its predecessors, oldest first. Stops at a deleted predecessor and at {@link
 * MAX_LOADED_TURNS}.
 * @param read loads a response by its id.
 * @throws ServiceError if the requested response is missing, or if a request for an older one fails for
 * another reason.
 */
export async function storedChain(
  read: (id: string) => Promise<StoredResponse>,
  id: string,
): Promise<readonly StoredResponse[]> {
  const chain: StoredResponse[] = [];
  let next: string | null = id;
  while (next !== null && chain.length < MAX_LOADED_TURNS) {
    try {
      const stored = await read(next);
      chain.unshift(stored);
      next = stored.response.previous_response_id;
    } catch (error) {
      const isGone = error instanceof ServiceError && error.status === 404;
      if (chain.length === 0 || !isGone) throw error;
      next = null;
    }
  }
  return chain;
}
