import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { type ChoiceOptions, likeliestOf, probabilityOf, TokenRules } from './token-rules.ts';

/** Text 0–9, the end 10, special tokens 11–13, timestamps from 14 to 14 + 1500, and padding after them. */
const END = 10;
const BEGIN = 14;
const LAST = BEGIN + 1_500;
const VOCABULARY = LAST + 4;
const SUPPRESSED = [3, 11];
const AT_BEGIN = [0, END];
const rules = new TokenRules({ endOfText: END, timestampBegin: BEGIN }, SUPPRESSED, AT_BEGIN);

const never = () => {
  throw new Error('sampled at temperature 0');
};
const greedy: ChoiceOptions = { timestamps: true, temperature: 0, random: never };

/** Logits of -9, except the given ones. */
function logitsOf(likely: Readonly<Record<number, number>>): Float32Array {
  const logits = new Float32Array(VOCABULARY).fill(-9);
  for (const [token, logit] of Object.entries(likely)) logits[Number(token)] = logit;
  return logits;
}

/** Returns the allowed tokens: tries each token with by far the highest logit. */
function mayFollow(tokens: readonly number[], options: ChoiceOptions = greedy): number[] {
  return Array.from({ length: VOCABULARY }, (_, token) => token).filter(
    (token) => rules.choose(logitsOf({ [token]: 30 }), tokens, options).token === token,
  );
}
const run = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const TEXT = run(0, 9).filter((token) => token !== 3);

describe('allowed tokens', () => {
  const at = (hundredths: number) => BEGIN + hundredths / 2;

  test('without timestamps: text and the end, but neither the end nor a space first', () => {
    const plain = { ...greedy, timestamps: false };
    expect(mayFollow([], plain)).toEqual(TEXT.filter((token) => token !== 0));
    expect(mayFollow([5], plain)).toEqual([...TEXT, END]);
  });

  test('first: a timestamp up to 1 s', () => {
    expect(mayFollow([])).toEqual(run(BEGIN, at(100)));
  });

  test('after the first start timestamp: text or the end', () => {
    expect(mayFollow([at(0)])).toEqual([...TEXT, END]);
  });

  test('in a segment: text, the end, or a timestamp after its start', () => {
    expect(mayFollow([at(40), 5])).toEqual([...TEXT, END, ...run(at(42), LAST)]);
  });

  test('after a segment: the end, or a start timestamp not before its end', () => {
    expect(mayFollow([at(0), 5, at(2_996)])).toEqual([END, ...run(at(2_996), LAST)]);
  });

  test('after a later start timestamp: text or the end', () => {
    expect(mayFollow([at(0), 5, at(80), at(90)])).toEqual([...TEXT, END]);
  });

  test('no timestamp after the end of the audio', () => {
    const options = { ...greedy, latestTimestamp: at(50) };
    expect(mayFollow([], options)).toEqual(run(BEGIN, at(50)));
    expect(mayFollow([at(0), 5], options)).toEqual([...TEXT, END, ...run(at(2), at(50))]);
    expect(mayFollow([at(0), 5, at(50)], options)).toEqual([END, at(50)]);
    expect(mayFollow([], { ...greedy, latestTimestamp: BEGIN - 3 })).toEqual([BEGIN]);
  });
});

describe('timestamps and text', () => {
  test('chooses a timestamp when timestamps together are more likely than the most likely text token', () => {
    const near = { 5: 2, [BEGIN + 40]: 1.5, [BEGIN + 41]: 1.6 };
    const choice = rules.choose(logitsOf(near), [BEGIN, 6], greedy);
    expect(choice.token).toBe(BEGIN + 41);
    expect(choice.logProbability).toBeCloseTo(
      1.6 - Math.log(Math.exp(1.5) + Math.exp(1.6) + 1498 * Math.exp(-9)),
      2,
    );
    expect(rules.choose(logitsOf({ ...near, 5: 3 }), [BEGIN, 6], greedy).token).toBe(5);
  });
});

describe('log probability', () => {
  test('is relative to the allowed tokens and accurate to 0.002', () => {
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(0.5, 3, 12), (seed, spread) => {
        const random = seededRandom(seed);
        const logits = Float32Array.from({ length: VOCABULARY }, () => spread * random());
        const followers = mayFollowText.map((token) => logits[token] as number);
        const total = Math.log(followers.reduce((sum, logit) => sum + Math.exp(logit), 0));
        const choice = rules.choose(logits, [5], { ...greedy, timestamps: false });
        expect(logits[choice.token]).toBe(Math.max(...followers));
        expect(Math.abs(choice.logProbability - (Math.max(...followers) - total))).toBeLessThan(0.002);
      }),
      { numRuns: 50 },
    );
  });
  const mayFollowText = [...TEXT, END];

  test('the first of equal logits is chosen', () => {
    expect(rules.choose(logitsOf({ 7: 4, 4: 4 }), [5], greedy).token).toBe(4);
  });

  test('logits without a valid number are rejected', () => {
    const broken = new Float32Array(VOCABULARY).fill(Number.NaN);
    expect(() => rules.choose(broken, [5], greedy)).toThrow('no valid logit');
    expect(() => likeliestOf(broken, [1, 2])).toThrow('no valid logit');
  });
});

describe('sampling', () => {
  const draw = (temperature: number, likely: Readonly<Record<number, number>>, count: number) => {
    const random = seededRandom(11);
    const options = { timestamps: false, temperature, random };
    const drawn = Array.from({ length: count }, () => rules.choose(logitsOf(likely), [5], options).token);
    return drawn;
  };
  const share = (drawn: number[], token: number) =>
    drawn.filter((one) => one === token).length / drawn.length;

  test('follows the probabilities at the temperature and is reproducible with the same seed', () => {
    const likely = { 4: Math.log(3), 7: 0 };
    expect(share(draw(1, likely, 2_000), 4)).toBeCloseTo(0.75, 1);
    expect(share(draw(0.5, likely, 2_000), 4)).toBeCloseTo(0.9, 1);
    expect(draw(1, likely, 50)).toEqual(draw(1, likely, 50));
  });

  test('never chooses a suppressed token, and only timestamps when they are more likely', () => {
    for (const random of [() => 0, () => 0.5, () => 1 - Number.EPSILON]) {
      const options = { timestamps: true, temperature: 1, random };
      const flat = rules.choose(new Float32Array(VOCABULARY), [], options).token;
      expect(flat).toBeGreaterThanOrEqual(BEGIN);
      expect(flat).toBeLessThanOrEqual(BEGIN + 50);
      expect(SUPPRESSED).not.toContain(
        rules.choose(logitsOf({ 3: 50 }), [5], { ...options, timestamps: false }).token,
      );
    }
  });

  test('reports the probability at temperature 1', () => {
    const options = { timestamps: false, temperature: 0.2, random: () => 0.99999 };
    const choice = rules.choose(logitsOf({ 4: Math.log(3), 7: 0 }), [5], options);
    expect(choice.token).toBe(7);
    expect(Math.exp(choice.logProbability)).toBeCloseTo(0.25, 2);
  });
});

describe('other probabilities', () => {
  test('of one token in the vocabulary', () => {
    const logits = new Float32Array(4);
    logits[2] = Math.log(5);
    expect(probabilityOf(logits, 2)).toBeCloseTo(5 / 8, 2);
    expect(probabilityOf(logits, 0)).toBeCloseTo(1 / 8, 2);
  });

  test('of the most likely of several tokens', () => {
    const found = likeliestOf(logitsOf({ 2: 1, 6: 1 + Math.log(4), 9: 20 }), [2, 6]);
    expect(found.token).toBe(6);
    expect(found.probability).toBeCloseTo(0.8, 2);
  });
});
