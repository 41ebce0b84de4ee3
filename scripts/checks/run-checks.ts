/** A static check of the repository. */
export interface Check {
  /** One word: the argument of `bun run check NAME`. */
  readonly name: string;
  /** What the check covers, for the output. */
  readonly covers: string;
  /** Returns the errors, one per line; empty if the check passes. */
  run(): Promise<string>;
}

/** Command line arguments that name checks which do not exist. */
export class UnknownCheckError extends Error {
  override readonly name = 'UnknownCheckError';
}

/**
 * The named checks in the order of `checks`, each once; all checks if no name is given.
 * @throws UnknownCheckError with all names if one of `names` is unknown.
 */
export function selectChecks(checks: readonly Check[], names: readonly string[]): readonly Check[] {
  const known = checks.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const quoted = unknown.map((name) => JSON.stringify(name)).join(', ');
    throw new UnknownCheckError(`Unknown check: ${quoted}. The checks are: ${known.join(', ')}.`);
  }
  return names.length === 0 ? checks : checks.filter(({ name }) => names.includes(name));
}

/**
 * Runs checks concurrently and prints one result each, in the order of `checks`, as soon as it and all earlier results
 * are known. A check that throws has failed.
 * @param limit how many checks run at the same time, at least 1.
 * @returns whether all checks passed.
 */
export async function runChecks(
  checks: readonly Check[],
  limit: number,
  print: (text: string) => void,
): Promise<boolean> {
  const results = checks.map((check) => ({ check, ...Promise.withResolvers<string>() }));
  const waiting = [...results];
  const runner = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      next.resolve(await errorsOf(next.check));
    }
  };
  const runners = Array.from({ length: Math.min(limit, checks.length) }, runner);
  let passed = true;
  for (const { check, promise } of results) {
    const errors = await promise;
    if (errors !== '') passed = false;
    const title = `${check.name}: ${check.covers}`;
    print(errors === '' ? `ok      ${title}` : `FAILED  ${title}\n${errors}\n`);
  }
  await Promise.all(runners);
  return passed;
}

async function errorsOf(check: Check): Promise<string> {
  try {
    return await check.run();
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}
