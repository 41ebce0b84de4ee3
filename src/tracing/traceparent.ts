/** `traceparent` values (W3C Trace Context, section 3.2). */

import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import type { Traceparent } from '../contract/core/tracer.ts';

const VERSION = '00';
/** A later version can have more fields after a dash. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Longer than the values of all known versions. */
const MAX_CHARACTERS = 256;

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): Traceparent {
  return `${VERSION}-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/**
 * Parses a `traceparent` value; undefined if it is invalid.
 * @param isRemote whether another process sent it.
 */
export function parseTraceparent(text: string, isRemote: boolean): SpanContext | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text.trim()) ?? [];
  if (version === VERSION && more !== undefined) return undefined;
  // The only flag that all versions define.
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote };
  return isSpanContextValid(context) ? context : undefined;
}
