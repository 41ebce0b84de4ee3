import { ServiceError } from '../../contract/core/error.ts';
import { ByteBudget, type ByteLimits } from '../../kit/limits/byte-budget.ts';

const RETRY_AFTER_S = 1;

/** Limits the memory of request bodies that are being received, so that slow senders cannot use all of it. */
export function bodyBudget(limits: ByteLimits): ByteBudget {
  return new ByteBudget(limits, {
    overKeyLimit: (bytesPerKey) =>
      new ServiceError(
        'rate_limited',
        `The requests that this API key is sending have more than ${bytesPerKey} bytes. Send fewer at a time.`,
        { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
      ),
    overTotalLimit: () =>
      new ServiceError('overloaded', 'Too many large requests are being received. Retry later.', {
        code: 'server_overloaded',
        retryAfterS: RETRY_AFTER_S,
      }),
  });
}
