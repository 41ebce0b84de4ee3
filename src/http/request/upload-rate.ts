import type { Clock } from '../../contract/core/clock.ts';
import { ServiceError } from '../../contract/core/error.ts';
import { systemClock } from '../../kit/clock.ts';
import { idleTimeoutOf } from '../response/streamed-body.ts';

/** How slowly a body may come. */
export interface BodyPace {
  /** How long its sender may let us wait, in all. */
  readonly patienceMs: number;
  /** Bytes that win back a second of it. */
  readonly bytesPerSecond: number;
}

/** Slower than any line that still carries a telephone call. */
export const BODY_PACE: BodyPace = { patienceMs: 30_000, bytesPerSecond: 1024 };

/**
 * The bytes of a request's body as they come, as long as they come at a least pace: a place of whoever reads it must not be
 * held by a byte now and then. Time in which nobody asks for more does not count. Meanwhile the server does not watch the
 * connection by itself: it would break off, without a word, every body that takes longer than the idle timeout and
 * comes at less than 16 KiB a second.
 * @throws ServiceError 408 `request_timeout` when the sender was waited for too long.
 */
export async function* pacedBody(
  request: Request,
  { patienceMs, bytesPerSecond }: BodyPace = BODY_PACE,
  clock: Clock = systemClock,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = request.body?.getReader();
  const idleTimeout = idleTimeoutOf(request);
  let leftMs = patienceMs;
  try {
    idleTimeout.suspend();
    while (reader !== undefined) {
      const fromMs = clock.monotonicMs();
      const { done, value } = await withinTime(reader.read(), leftMs);
      if (done) return;
      const wonMs = (value.length / bytesPerSecond) * 1000;
      leftMs = Math.min(patienceMs, leftMs - (clock.monotonicMs() - fromMs) + wonMs);
      yield value;
    }
  } finally {
    idleTimeout.resume();
    // What is not wanted any more, or does not come.
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
  return new ServiceError('request_timeout', 'The request body came too slowly. Send it again, faster.', {
    code: 'request_timeout',
  });
}
