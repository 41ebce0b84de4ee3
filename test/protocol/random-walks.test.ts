import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SERVER_EVENT_SCHEMAS } from '../../plugins/realtime/protocol/server-events.ts';
import { serverEventFault } from '../../tools/trace-check/frame-schema.ts';
import type { Opening } from '../doubles/simulated-connection.ts';
import { play, step } from '../generators/random-walk.ts';

/** Long conversations at random. A walk that breaks a rule is reduced to a short one. */

const STEPS = 800;
const WALKS = 400;
const SEED = 20_261_121;

test.each<Opening>([
  { dialect: 'spec', isFixed: true },
  { dialect: 'ga', isFixed: true },
  { dialect: 'spec', isFixed: false },
])(`${WALKS} walks of up to ${STEPS} steps keep every rule and schema: %o`, (opening) => {
  const seen = new Set<unknown>();
  fc.assert(
    fc.property(fc.array(step, { maxLength: STEPS, size: 'max' }), (steps) => {
      const { entries, violations } = play(steps, opening);
      expect(violations).toEqual([]);
      for (const entry of entries) {
        if ('end' in entry || entry.from === 'client') continue;
        seen.add(Object(entry.frame).type);
        const wrong = (['spec', 'ga'] as const).map((each) => serverEventFault(entry.frame, each));
        if (wrong.every((fault) => fault !== undefined)) expect.fail(wrong[0]);
      }
    }),
    { numRuns: WALKS, seed: SEED },
  );
  const unseen = [...SERVER_EVENT_SCHEMAS[opening.dialect].keys()].filter((type) => !seen.has(type));
  expect(unseen, 'events that no walk led to').toEqual([]);
});
