import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/kit/math/seeded-random.ts';
import { checkTrace, RULES, type RuleName } from '../../tools/trace-check/check.ts';
import { type ConversationDialect, legalConversation } from '../generators/legal-conversation.ts';
import { failsDetector, play, step } from '../generators/random-walk.ts';
import { MUTATIONS } from '../generators/trace-mutants.ts';

const DIALECTS: readonly ConversationDialect[] = ['spec', 'ga'];
const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);
const MUTANTS_PER_MUTATION = 8;

const generated = DIALECTS.flatMap((dialect) =>
  SEEDS.map((seed) => ({ seed, dialect, trace: legalConversation(seed, dialect) })),
);
/** Traces of the state machines for random steps. */
const simulated = DIALECTS.flatMap((dialect) =>
  fc
    .sample(fc.array(step, { minLength: 300, maxLength: 600, size: 'max' }), {
      seed: 1,
      numRuns: SEEDS.length,
    })
    .map((steps, seed) => ({
      seed,
      dialect,
      trace: play(
        steps.filter((each) => !failsDetector(each)),
        { dialect },
      ).entries,
    })),
);

describe.each(DIALECTS)('legal conversations of the %s dialect', (dialect) => {
  const conversations = [...generated, ...simulated];

  test(`${2 * SEEDS.length} traces have no violations`, () => {
    for (const { seed, trace } of conversations.filter((each) => each.dialect === dialect)) {
      expect(checkTrace(trace), `seed ${seed}`).toEqual([]);
    }
  });

  test('truncated traces have no violations', () => {
    for (const { seed, trace } of conversations.filter((each) => each.dialect === dialect).slice(0, 10)) {
      for (const [length] of trace.entries()) {
        expect(checkTrace([...trace.slice(0, length), { end: 'cut' }]), `seed ${seed}, ${length}`).toEqual(
          [],
        );
      }
    }
  });
});

describe('mutants', () => {
  const broken = new Set<RuleName>();
  const cases = MUTATIONS.flatMap((mutation) => [
    { ...mutation, source: 'a generated conversation', conversations: generated },
    { ...mutation, source: 'the state machines', conversations: simulated },
  ]);
  test.each(cases)('of $source are detected: $name', ({ name, mutate, detectedBy, conversations }) => {
    let mutants = 0;
    for (const [place, { seed, dialect, trace }] of conversations.entries()) {
      const mutant = mutate(trace, seededRandom(place));
      if (mutant === undefined) continue;
      mutants += 1;
      const violations = checkTrace(mutant);
      const rules = new Set(violations.map(({ rule }) => rule));
      for (const rule of rules) broken.add(rule);
      expect(
        detectedBy.some((rule) => rules.has(rule)),
        `${name}, seed ${seed}, ${dialect}: ${JSON.stringify(violations.slice(0, 3))}`,
      ).toBe(true);
      if (mutants === MUTANTS_PER_MUTATION) break;
    }
    expect(mutants).toBe(MUTANTS_PER_MUTATION);
  });

  test('violate every rule', () => {
    expect((Object.keys(RULES) as RuleName[]).filter((rule) => !broken.has(rule))).toEqual([]);
  });
});
