import type { Clock } from '../../contract/core/clock.ts';
import { ServiceError } from '../../contract/core/error.ts';
import { systemClock } from '../../kit/clock.ts';
import { idleTimeoutOf } from '../response/streamed-body.ts';

/** Minimum upload rate of a request body. */
export interface UploadRate {
  /** Time that the sender may spend without sending data (ms). */
  readonly graceMs: number;
  /** Number of received bytes that restore one second of that time. */
  readonly bytesPerSecond: number;
  /** If set, at least the received bytes divided by this time (s) are needed for that: a large body must be sent faster. */
  readonly maxSeconds?: number;
}

/** Below the data rate of any connection that can carry a telephone call. */
export const MIN_UPLOAD_RATE: UploadRate = { graceMs: 30_000, bytesPerSecond: 1024 };

/** The rate of bodies that are kept in memory until they are complete. */
export const BODY_UPLOAD_RATE: UploadRate = { ...MIN_UPLOAD_RATE, maxSeconds: 300 };

/**
 * Reads a request body and enforces a minimum upload rate, so that a slow sender cannot occupy a request slot. Time in which
 * the consumer does not read is not counted. The idle timeout of the connection is suspended: it would close, without an
 * error response, every upload that takes longer than the timeout at less than 16 KiB/s.
 * @throws ServiceError 408 `request_timeout` if the sender is too slow.
 */
export async function* rateCheckedBody(
  request: Request,
  { graceMs, bytesPerSecond, maxSeconds = Number.POSITIVE_INFINITY }: UploadRate = MIN_UPLOAD_RATE,
  clock: Clock = systemClock,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = request.body?.getReader();
  const idleTimeout = idleTimeoutOf(request);
  let leftMs = graceMs;
  let receivedBytes = 0;
  try {
    idleTimeout.suspend();
    while (reader !== undefined) {
      const fromMs = clock.monotonicMs();
      const { done, value } = await withinTime(reader.read(), leftMs);
      if (done) return;
      const minimum = Math.max(bytesPerSecond, receivedBytes / maxSeconds);
      const earnedMs = (value.length / minimum) * 1000;
      receivedBytes += value.length;
      leftMs = Math.min(graceMs, leftMs - (clock.monotonicMs() - fromMs) + earnedMs);
      yield value;
    }
  } finally {
    idleTimeout.resume();
    // The consumer stopped early, or the sender was too slow.
    reader?.cancel().catch(() => undefined);
  }
}

async function withinTime<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow()), Math.max(0, ms));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(): ServiceError {
  return new ServiceError('request_timeout', 'Request timeout: upload rate below the minimum.', {
    code: 'request_timeout',
  });
}
