import { describe, expect, test } from 'vitest';
import { type Check, runChecks, selectChecks, UnknownCheckError } from './run-checks.ts';

/** A check whose end the test decides. */
function heldCheck(name: string, started: string[]) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const check: Check = {
    name,
    covers: `covers ${name}`,
    run() {
      started.push(name);
      return promise;
    },
  };
  return { check, finish: resolve };
}

describe('selectChecks', () => {
  const checks = ['types', 'lint', 'documents'].map((name) => heldCheck(name, []).check);
  const namesOf = (names: readonly string[]) => selectChecks(checks, names).map(({ name }) => name);

  test('no name selects all checks', () => {
    expect(namesOf([])).toEqual(['types', 'lint', 'documents']);
  });

  test('names select checks once and in the fixed order', () => {
    expect(namesOf(['documents', 'types', 'documents'])).toEqual(['types', 'documents']);
  });

  test('unknown names are errors that list the names', () => {
    expect(() => namesOf(['types', 'doc', 'Lint'])).toThrow(
      new UnknownCheckError('Unknown check: "doc", "Lint". The checks are: types, lint, documents.'),
    );
  });
});

describe('runChecks', () => {
  test('starts at most the permitted number and prints in the fixed order', async () => {
    const started: string[] = [];
    const printed: string[] = [];
    const [a, b, c] = [heldCheck('a', started), heldCheck('b', started), heldCheck('c', started)];
    const passed = runChecks([a.check, b.check, c.check], 2, (text) => printed.push(text));
    expect(started).toEqual(['a', 'b']);

    b.finish('');
    await expect.poll(() => started).toEqual(['a', 'b', 'c']);
    expect(printed).toEqual([]);

    a.finish('');
    await expect.poll(() => printed).toEqual(['ok      a: covers a', 'ok      b: covers b']);
    c.finish('');
    expect(await passed).toBe(true);
    expect(printed.at(-1)).toBe('ok      c: covers c');
  });

  test('a failed check does not stop the others', async () => {
    const printed: string[] = [];
    const check = (name: string, run: Check['run']): Check => ({ name, covers: 'x', run });
    const checks = [
      check('a', async () => 'a.ts:1: wrong'),
      check('b', async () => Promise.reject(new Error('no such file'))),
      check('c', async () => ''),
    ];
    expect(await runChecks(checks, 1, (text) => printed.push(text))).toBe(false);
    expect(printed).toEqual([
      'FAILED  a: x\na.ts:1: wrong\n',
      expect.stringMatching(/^FAILED {2}b: x\nError: no such file/),
      'ok      c: x',
    ]);
  });
});
