import { ServiceError } from '../../contract/core/error.ts';

const RETRY_AFTER_S = 2;

export interface QueueLimits {
  /** Maximum number of requests in the queue. */
  readonly maxQueued: number;
  /** Maximum number of requests with the same fairness key; default: `maxQueued`. */
  readonly maxQueuedPerKey?: number;
}

/**
 * Requires a free slot in a queue.
 * @param queued number of requests in the queue.
 * @param queuedOfKey number of requests in the queue with the fairness key of the new request.
 * @throws ServiceError `rate_limited` when the key uses its share, `overloaded` when all slots are in use.
 */
export function requireQueueSlot(queued: number, queuedOfKey: number, limits: QueueLimits): void {
  const { maxQueued, maxQueuedPerKey = Number.POSITIVE_INFINITY } = limits;
  if (queuedOfKey >= maxQueuedPerKey) {
    throw new ServiceError(
      'rate_limited',
      `Queue limit per API key reached (${maxQueuedPerKey}). Retry when a request finishes.`,
      { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
    );
  }
  if (queued < maxQueued) return;
  throw new ServiceError(
    'overloaded',
    `The queue for requests of this kind is full (${maxQueued}). Retry later.`,
    { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S },
  );
}

/**
 * Requires a free slot in the queue of a priority class. One API key may hold at most half of the slots, so that it
 * cannot block the others (docs/decisions/fairness.md).
 * @param open jobs of this class in the queue. Each class has its own slots.
 * @param slots number of slots of the queue.
 * @throws ServiceError `rate_limited` when the key holds its share, `overloaded` when all slots are in use.
 */
export function requireClassSlot(
  open: Iterable<{ readonly fairnessKey: string }>,
  fairnessKey: string,
  slots: number,
): void {
  const keys = Array.from(open, (each) => each.fairnessKey);
  const ofKey = keys.filter((each) => each === fairnessKey).length;
  requireQueueSlot(keys.length, ofKey, { maxQueued: slots, maxQueuedPerKey: Math.ceil(slots / 2) });
}
