import { requireQueueSlot } from '../../kit/limits/queue-slots.ts';

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
