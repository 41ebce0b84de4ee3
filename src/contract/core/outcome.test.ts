import { describe, expect, it } from 'vitest';
import { ERROR_KINDS, type ErrorKind, ServiceError } from './error.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

const FAILURES: readonly ErrorKind[] = ['internal', 'upstream', 'timeout'];
const KINDS = Object.keys(ERROR_KINDS) as ErrorKind[];
const live = new AbortController().signal;
const stopped = AbortSignal.abort(new Error('gone'));

/** Every error with its outcome before the first output. */
const ERRORS: readonly (readonly [string, unknown, Outcome])[] = [
  ...KINDS.map((kind) => {
    const outcome = FAILURES.includes(kind) ? 'failed' : 'rejected';
    return [kind, new ServiceError(kind, 'No.'), outcome] as const;
  }),
  ['an error without a kind', new Error('why'), 'failed'],
  ['something that is not an error', 'why', 'failed'],
];

describe.each(ERRORS)('the outcome of %s', (_, error, beforeOutput) => {
  it.each([
    [false, false, beforeOutput],
    [false, true, 'failed'],
    [true, false, 'cancelled'],
    [true, true, 'cancelled'],
  ] as const)('after an abort: %s, after output: %s, is %s', (isAborted, hasOutput, outcome) => {
    expect(outcomeOf(error, { signal: isAborted ? stopped : live, hasOutput })).toBe(outcome);
  });
});

it.each([live, stopped])('work that ended by itself is completed', (signal) => {
  for (const hasOutput of [false, true])
    expect(outcomeOf(undefined, { signal, hasOutput })).toBe('completed');
});
