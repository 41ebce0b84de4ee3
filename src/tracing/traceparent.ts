/** Places in traces as `traceparent` writes them (W3C Trace Context, 3.2). */

import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import type { Traceparent } from '../contract/core/tracer.ts';

const VERSION = '00';
/** A later version may have more behind a dash. */
const PLACE = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Longer than any version is known to be. */
const MAX_CHARACTERS = 256;

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): Traceparent {
  return `${VERSION}-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/**
 * Reads a place; undefined for what is none.
 * @param isRemote whether another process told it.
 */
export function parseTraceparent(place: string, isRemote: boolean): SpanContext | undefined {
  if (place.length > MAX_CHARACTERS) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = PLACE.exec(place.trim()) ?? [];
  if (version === VERSION && more !== undefined) return undefined;
  // The one flag that every version has.
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote };
  return isSpanContextValid(context) ? context : undefined;
}
