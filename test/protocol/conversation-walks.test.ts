import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CONVERSATION_SERVER_EVENT_SCHEMAS } from '../../plugins/realtime/conversation/server-event-schemas.ts';
import { lastStep, play, step } from '../generators/conversation-walk.ts';
import { repetitions } from '../harness/tier.ts';

/** Long random conversations. fast-check reduces a walk with a fault. */

const STEPS = 600;
const WALKS = repetitions(100, 2000);
const SEED = 20_261_126;

test.each([
  ['current', false],
  ['beta', true],
])(
  `${WALKS} walks of up to ${STEPS} steps follow all rules, schemas and invariants, in the names of the %s protocol`,
  (_, isBeta) => {
    const seen = new Set<unknown>();
    const steps = fc.array(step, { maxLength: STEPS, size: 'max' });
    fc.assert(
      fc.property(steps, fc.option(lastStep), (walk, last) => {
        const { entries, end } = play(last === null ? walk : [...walk, last], isBeta);
        expect(end.faults).toEqual([]);
        for (const entry of entries) {
          if (!('end' in entry) && entry.from === 'server') seen.add(Object(entry.frame).type);
        }
      }),
      { numRuns: WALKS, seed: SEED },
    );
    const all = CONVERSATION_SERVER_EVENT_SCHEMAS[isBeta ? 'spec' : 'ga'];
    expect(
      [...all.keys()].filter((type) => !seen.has(type)),
      'events that did not occur',
    ).toEqual([]);
  },
);
