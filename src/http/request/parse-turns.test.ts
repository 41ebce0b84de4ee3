import { expect, test } from 'vitest';
import { ParseTurns } from './parse-turns.ts';

const NEVER = new AbortController().signal;

/** Turns with a clock that only `work` moves, and pauses that end when the test says so. */
function controlledTurns() {
  let nowMs = 0;
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const turns = new ParseTurns(
    { now: () => nowMs, monotonicMs: () => nowMs },
    (ms) => new Promise((end) => pauses.push({ ms, end })),
  );
  const parsed: string[] = [];
  const parse = (name: string, takesMs: number) => () => {
    nowMs += takesMs;
    parsed.push(name);
    return name;
  };
  return { turns, pauses, parsed, parse };
}

test('the first body is parsed immediately, the next one after a pause of three times the parse', async () => {
  const { turns, pauses, parsed, parse } = controlledTurns();
  expect(await turns.run('a', parse('first', 40), NEVER)).toBe('first');
  const second = turns.run('a', parse('second', 10), NEVER);
  await Promise.resolve();
  expect(parsed).toEqual(['first']);
  expect(pauses.map(({ ms }) => ms)).toEqual([120]);
  pauses[0]?.end();
  expect(await second).toBe('second');
  expect(pauses.map(({ ms }) => ms)).toEqual([120, 30]);
});

test('organizations take turns', async () => {
  const { turns, pauses, parsed, parse } = controlledTurns();
  const all = [
    turns.run('a', parse('a1', 1), NEVER),
    turns.run('a', parse('a2', 1), NEVER),
    turns.run('a', parse('a3', 1), NEVER),
    turns.run('b', parse('b1', 1), NEVER),
  ];
  for (let at = 0; at < all.length; at += 1) {
    await expect.poll(() => pauses.length).toBe(at + 1);
    pauses[at]?.end();
  }
  await Promise.all(all);
  expect(parsed).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('a parse that fails ends its turn', async () => {
  const { turns, pauses, parse } = controlledTurns();
  const failing = turns.run(
    'a',
    () => {
      throw new Error('invalid');
    },
    NEVER,
  );
  await expect(failing).rejects.toThrow('invalid');
  pauses[0]?.end();
  expect(await turns.run('a', parse('next', 1), NEVER)).toBe('next');
});

test('a request that is cancelled while it waits is not parsed', async () => {
  const { turns, pauses, parsed, parse } = controlledTurns();
  await turns.run('a', parse('first', 1), NEVER);
  const stop = new AbortController();
  const waiting = turns.run('a', parse('cancelled', 1), stop.signal);
  const last = turns.run('a', parse('last', 1), NEVER);
  stop.abort(new Error('disconnected'));
  await expect(waiting).rejects.toThrow('disconnected');
  pauses[0]?.end();
  await last;
  expect(parsed).toEqual(['first', 'last']);
});
