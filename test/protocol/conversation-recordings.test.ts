import { expect, test } from 'vitest';
import { checkTrace } from '../../tools/trace-check/check.ts';
import { RECORDINGS, recorded } from '../generators/conversation-recordings.ts';

test.each(RECORDINGS)('%s violates no rule', async (name) => {
  const trace = await recorded(name);
  expect(checkTrace(trace)).toEqual([]);
});
