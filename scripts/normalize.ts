/**
 * `bun run normalize --language TAG`: reads lines from standard input and writes the spoken form of each to standard output, one line
 * each. Nothing else is written there.
 */

import { createInterface } from 'node:readline';
import { FRONT_ENDS, frontEndOf, spokenForm } from '../src/text/front-end.ts';

const USAGE = 'Usage: bun run normalize [--language TAG], with one text per line on standard input';

function languageOf(args: readonly string[]): string {
  const [name, value, ...others] = args.flatMap((arg) => arg.split(/(?<=^--language)=/));
  if (name === undefined) return 'en-US';
  if (name !== '--language' || value === undefined || others.length > 0) throw new Error(`${USAGE}.`);
  return value;
}

async function main(): Promise<void> {
  const tag = languageOf(process.argv.slice(2));
  const frontEnd = frontEndOf(tag);
  if (frontEnd === undefined) {
    const known = FRONT_ENDS.map(({ language }) => language).join(', ');
    throw new Error(`The language '${tag}' is not supported. Supported: ${known}.`);
  }
  // The last line may have no end.
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    process.stdout.write(`${spokenForm(frontEnd, line)}\n`);
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
