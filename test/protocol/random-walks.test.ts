import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SERVER_EVENT_SCHEMAS } from '../../plugins/realtime/protocol/server-events.ts';
import { serverEventError } from '../../tools/trace-check/frame-schema.ts';
import type { Opening } from '../doubles/simulated-connection.ts';
import { play, step } from '../generators/random-walk.ts';
import { repetitions } from '../harness/tier.ts';

/** Long random conversations. fast-check reduces a walk with a violation. */

const STEPS = 800;
const WALKS = repetitions(100, 400);
const SEED = 20_261_121;

test.each<[string, Opening]>([
  ['spec dialect', { dialect: 'spec', isFixed: true }],
  ['GA dialect', { dialect: 'ga', isFixed: true }],
  ['no dialect in the handshake', { dialect: 'spec', isFixed: false }],
])(`${WALKS} walks of up to ${STEPS} steps follow all rules and schemas: %s`, (_, opening) => {
  const seen = new Set<unknown>();
  fc.assert(
    fc.property(fc.array(step, { maxLength: STEPS, size: 'max' }), (steps) => {
      const { entries, violations } = play(steps, opening);
      expect(violations).toEqual([]);
      for (const entry of entries) {
        if ('end' in entry || entry.from === 'client') continue;
        seen.add(Object(entry.frame).type);
        const errors = (['spec', 'ga'] as const).map((each) => serverEventError(entry.frame, each));
        if (errors.every((error) => error !== undefined)) expect.fail(errors[0]);
      }
    }),
    { numRuns: WALKS, seed: SEED },
  );
  const unseen = [...SERVER_EVENT_SCHEMAS[opening.dialect].keys()].filter((type) => !seen.has(type));
  expect(unseen, 'events that did not occur').toEqual([]);
});
