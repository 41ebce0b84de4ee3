import { describe, expect, it } from 'vitest';
import { bodyBudget } from './body-budget.ts';

const open = () => bodyBudget({ bytesPerKey: 100, totalBytes: 150 });

describe('the bytes of one key', () => {
  it('are limited over all its bodies, and released at their end', () => {
    const budget = open();
    const [one, other] = [budget.openShare('a'), budget.openShare('a')];
    one.add(60);
    other.add(40);
    const over = { kind: 'rate_limited', code: 'rate_limit_exceeded', retryAfterS: 1 };
    expect(() => other.add(1)).toThrow(expect.objectContaining(over));
    one.end();
    one.end();
    expect(budget.bytes).toBe(40);
    other.add(60);
    other.end();
    expect(budget.bytes).toBe(0);
  });

  it('can become fewer while the limit is exceeded', () => {
    const budget = open();
    const share = budget.openShare('a');
    share.resize(90);
    expect(() => share.resize(101)).toThrow();
    expect(budget.bytes).toBe(90);
    share.resize(100);
    share.resize(20);
    expect(budget.bytes).toBe(20);
    share.end();
    expect(budget.bytes).toBe(0);
  });

  it('do not count for other keys, except in the total', () => {
    const budget = open();
    budget.openShare('a').add(100);
    const other = budget.openShare('b');
    other.add(50);
    const over = { kind: 'overloaded', code: 'server_overloaded', retryAfterS: 1 };
    expect(() => other.add(1)).toThrow(expect.objectContaining(over));
    // Rejected bytes are not counted.
    expect(budget.bytes).toBe(150);
  });
});
