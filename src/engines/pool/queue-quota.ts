/** Admission to a queue: the queue limit and the share of one API key (docs/decisions/fairness.md). */

import { ServiceError } from '../../contract/core/error.ts';

const RETRY_AFTER_S = 2;

/**
 * Requires a free slot in the queue of a priority class. One API key may hold at most half of the slots, so that it
 * cannot block the others.
 * @param open jobs of this class in the queue. Each class has its own slots.
 * @param slots number of slots of the queue.
 * @throws ServiceError `rate_limited` when the key holds its share, `overloaded` when all slots are in use.
 */
export function requireQueueSlot(
  open: Iterable<{ readonly fairnessKey: string }>,
  fairnessKey: string,
  slots: number,
): void {
  const keys = Array.from(open, (each) => each.fairnessKey);
  const share = Math.ceil(slots / 2);
  if (keys.filter((each) => each === fairnessKey).length >= share) {
    throw new ServiceError(
      'rate_limited',
      `Concurrency limit per API key reached (${share}). Retry when a request finishes.`,
      { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
    );
  }
  if (keys.length < slots) return;
  throw new ServiceError(
    'overloaded',
    `The queue for requests of this kind is full (${slots}). Retry later.`,
    { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S },
  );
}
