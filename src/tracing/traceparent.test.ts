import { describe, expect, it } from 'vitest';
import { formatTraceparent, parseTraceparent } from './traceparent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('a traceparent', () => {
  it.each([0, 1])('parses to the formatted context, flags %d', (traceFlags) => {
    const context = { traceId: TRACE, spanId: SPAN, traceFlags };
    expect(formatTraceparent(context)).toBe(`00-${TRACE}-${SPAN}-0${traceFlags}`);
    expect(parseTraceparent(formatTraceparent(context), true)).toEqual({ ...context, isRemote: true });
  });

  it('of a later version can have more fields and other flags', () => {
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-03-what-comes`, false)).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      traceFlags: 1,
      isRemote: false,
    });
  });

  it.each([
    '',
    'none',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `01-${TRACE}-${SPAN}-01-${'a'.repeat(300)}`,
  ])('cannot be %j', (text) => {
    expect(parseTraceparent(text, true)).toBeUndefined();
  });
});
