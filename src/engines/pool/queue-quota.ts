/** Who may still be let into a queue (docs/decisions/fairness.md). */

import { ServiceError } from '../../contract/core/error.ts';

const RETRY_AFTER_S = 2;

/**
 * Half of the places are the most that one owner may have, so that nobody shuts out the others.
 * @param open what is in the queue, of one class: each class has places of its own.
 * @param places of the queue.
 * @throws ServiceError `rate_limited` when the owner has its share, `overloaded` when all places are taken.
 */
export function requirePlace(
  open: Iterable<{ readonly owner: string }>,
  owner: string,
  places: number,
): void {
  const owners = Array.from(open, (each) => each.owner);
  const share = Math.ceil(places / 2);
  if (owners.filter((each) => each === owner).length >= share) {
    throw new ServiceError(
      'rate_limited',
      `The server is already working on ${share} requests of this kind for your API key, which is its share. Try again when one has ended.`,
      { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
    );
  }
  if (owners.length < places) return;
  throw new ServiceError(
    'overloaded',
    `The server is already working on ${places} requests of this kind, which is its limit. Try again shortly.`,
    { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S },
  );
}
