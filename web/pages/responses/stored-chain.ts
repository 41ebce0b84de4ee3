import { ServiceFault } from '../../client/service-fault.ts';
import type { InputItem, ResponseBody } from './response-wire.ts';

/** Most responses that are loaded of a chain. */
export const LOADED_TURNS = 20;

/** A response as it is stored, with what it was asked. */
export interface StoredResponse {
  readonly asked: readonly InputItem[];
  readonly response: ResponseBody;
}

/**
 * A stored response with those that it continues, oldest first; what is deleted or too far back is left out.
 * @param read loads one by its id.
 * @throws ServiceFault why the one that was asked for cannot be shown, or why an older one cannot now.
 */
export async function storedChain(
  read: (id: string) => Promise<StoredResponse>,
  id: string,
): Promise<readonly StoredResponse[]> {
  const chain: StoredResponse[] = [];
  let next: string | null = id;
  while (next !== null && chain.length < LOADED_TURNS) {
    try {
      const stored = await read(next);
      chain.unshift(stored);
      next = stored.response.previous_response_id;
    } catch (error) {
      const isGone = error instanceof ServiceFault && error.status === 404;
      if (chain.length === 0 || !isGone) throw error;
      next = null;
    }
  }
  return chain;
}
