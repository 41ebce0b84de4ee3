import type { OperationContext } from '../contract/engines/operation.ts';
import type { OpenRequest, OpenRequests } from '../kit/limits/open-requests.ts';

/**
 * Starts a request within the concurrency limit of the organization. Batch lines are not counted, because
 * their batch limits them.
 * @throws ServiceError `rate_limited` if the organization has too many open requests.
 */
export function startRequest(
  open: OpenRequests,
  { caller, priority }: OperationContext,
  signal: AbortSignal,
): OpenRequest {
  return priority === 'batch' ? open.startUncounted(signal) : open.startRequest(caller, signal);
}
