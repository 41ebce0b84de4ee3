import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PromptTurns, paddingOf, planStep, type StepRequest } from './step-plan.ts';

const prompt = (pendingTokens: number, rank = 1, key = 'a'): StepRequest => ({
  rank,
  key,
  pendingTokens,
  readsPrompt: true,
});
const token = (rank = 1): StepRequest => ({ rank, key: 'a', pendingTokens: 1, readsPrompt: false });

/** Short and long steps of one size. */
const upTo = (tokens: number) => ({ short: tokens, long: tokens });

describe('paddingOf', () => {
  it.each([
    [1, 0],
    [11, 0],
    [12, 4],
    [15, 1],
    [16, 0],
    [17, 0],
    [29, 3],
    [32, 0],
  ])('adds to a step of %i tokens: %i', (tokens, padding) => {
    expect(paddingOf(tokens)).toBe(padding);
  });
});

describe('planStep', () => {
  it('gives every response its next token, whatever the prompts need', () => {
    expect(planStep([token(), prompt(1000), token(2)], upTo(32))).toEqual([1, 32, 1]);
  });

  it('divides the step between prompts of equal rank', () => {
    expect(planStep([prompt(1000), prompt(1000)], upTo(64))).toEqual([32, 32]);
  });

  it('gives the unused part of a share to longer prompts', () => {
    expect(planStep([prompt(1000), prompt(4), prompt(1000)], upTo(64))).toEqual([30, 4, 30]);
  });

  it('divides the step between keys, whatever the number of their prompts', () => {
    const many = Array.from({ length: 8 }, () => prompt(1000));
    expect(planStep([...many, prompt(40, 1, 'b')], upTo(80))).toEqual([5, 5, 5, 5, 5, 5, 5, 5, 40]);
    expect(planStep([...many, prompt(8, 1, 'b')], upTo(80))).toEqual([9, 9, 9, 9, 9, 9, 9, 9, 8]);
  });

  it('serves lower ranks first', () => {
    expect(planStep([prompt(1000, 2), prompt(40, 0), prompt(1000, 1)], upTo(64))).toEqual([0, 40, 24]);
  });

  it('reads no prompts that yield to tokens of the same or a lower rank', () => {
    const requests = [prompt(1000, 0), token(1), prompt(1000, 1), prompt(1000, 2)];
    expect(planStep(requests, upTo(64), true)).toEqual([64, 1, 0, 0]);
    expect(planStep([prompt(1000), prompt(1000)], upTo(64), true)).toEqual([32, 32]);
  });

  it.each([
    ['reads prompts alone in long steps', [prompt(1000), prompt(500, 1, 'b')], [32, 32]],
    ['reads prompts in short steps while a response waits for its token', [token(), prompt(1000)], [1, 16]],
    ['ends a short prompt in a short step', [prompt(1000), prompt(5, 1, 'b')], [11, 5]],
    ['ends a prompt in one long step if two short ones are needed', [prompt(40)], [40]],
  ])('%s', (_, requests, planned) => {
    expect(planStep(requests, { short: 16, long: 64 })).toEqual(planned);
  });

  it('uses the whole step, and never more than the step or a prompt', () => {
    const request = fc.record({
      rank: fc.nat({ max: 2 }),
      key: fc.constantFrom('a', 'b', 'c'),
      pendingTokens: fc.integer({ min: 1, max: 300 }),
      readsPrompt: fc.constant(true),
    });
    fc.assert(
      fc.property(
        fc.array(request, { maxLength: 8 }),
        fc.integer({ min: 1, max: 200 }),
        (requests, limit) => {
          const planned = planStep(requests, upTo(limit));
          const pending = requests.reduce((sum, { pendingTokens }) => sum + pendingTokens, 0);
          expect(planned.reduce((sum, count) => sum + count, 0)).toBe(Math.min(limit, pending));
          for (const [index, count] of planned.entries()) {
            expect(count).toBeGreaterThanOrEqual(0);
            expect(count).toBeLessThanOrEqual(requests[index]?.pendingTokens ?? 0);
          }
        },
      ),
    );
  });
});

describe('PromptTurns', () => {
  /** Runs steps of 10 ms for tokens and 100 ms with prompts. Returns the steps with prompts. */
  const run = (turns: PromptTurns, requests: readonly StepRequest[], steps: number): boolean[] =>
    Array.from({ length: steps }, () => {
      const planned = planStep(requests, upTo(64), turns.promptsYield);
      const reads = requests.some(({ readsPrompt }, index) => readsPrompt && (planned[index] ?? 0) > 0);
      turns.record(requests, planned, reads ? 100 : 10);
      return reads;
    });

  it('gives tokens twice the time alone that steps with prompts took', () => {
    const requests = [token(), prompt(10_000)];
    const reads = run(new PromptTurns(), requests, 84);
    expect(reads.filter(Boolean)).toHaveLength(4);
    expect(reads.map((read, index) => (read ? index : -1)).filter((index) => index >= 0)).toEqual([
      0, 21, 42, 63,
    ]);
  });

  it.each([
    ['prompts alone', [prompt(10_000), prompt(10_000)]],
    ['prompts of a lower rank than the tokens', [prompt(10_000, 0), token(1)]],
  ])('reads %s in each step', (_, requests) => {
    expect(run(new PromptTurns(), requests, 5)).toEqual([true, true, true, true, true]);
  });

  it('forgets what is owed when no response waits for tokens', () => {
    const turns = new PromptTurns();
    run(turns, [token(), prompt(10_000)], 1);
    expect(turns.promptsYield).toBe(true);
    run(turns, [prompt(10_000)], 1);
    expect(turns.promptsYield).toBe(false);
  });
});
