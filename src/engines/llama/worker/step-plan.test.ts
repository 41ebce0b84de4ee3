import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planStep, type StepRequest } from './step-plan.ts';

const prompt = (pendingTokens: number, rank = 1): StepRequest => ({ rank, pendingTokens, readsPrompt: true });
const token = (rank = 1): StepRequest => ({ rank, pendingTokens: 1, readsPrompt: false });

describe('planStep', () => {
  it('gives every response its next token, whatever the prompts need', () => {
    expect(planStep([token(), prompt(1000), token(2)], 32)).toEqual([1, 32, 1]);
  });

  it('divides the step between prompts of equal rank', () => {
    expect(planStep([prompt(1000), prompt(1000)], 64)).toEqual([32, 32]);
  });

  it('gives the unused part of a share to longer prompts', () => {
    expect(planStep([prompt(1000), prompt(4), prompt(1000)], 64)).toEqual([30, 4, 30]);
  });

  it('serves lower ranks first', () => {
    expect(planStep([prompt(1000, 2), prompt(40, 0), prompt(1000, 1)], 64)).toEqual([0, 40, 24]);
  });

  it('uses the whole step, and never more than the step or a prompt', () => {
    const request = fc.record({
      rank: fc.nat({ max: 2 }),
      pendingTokens: fc.integer({ min: 1, max: 300 }),
      readsPrompt: fc.constant(true),
    });
    fc.assert(
      fc.property(
        fc.array(request, { maxLength: 8 }),
        fc.integer({ min: 1, max: 200 }),
        (requests, limit) => {
          const planned = planStep(requests, limit);
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
