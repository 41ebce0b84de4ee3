/**
 * `bun run soak`: load and fault injection on real servers for a given time, with a report of errors and
 * losses.
 */

import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { machine } from '../bench/report.ts';
import { writeReport } from '../soak/report/report.ts';
import { FAULT_NAMES, soak } from '../soak/run.ts';

const ROOT = resolve(import.meta.dirname, '..');
const USAGE = `Usage: bun run soak [--minutes 30] [--only fault,fault] [--out soak/results]
  Runs several nodes of the service under mixed load, injects faults, and writes a report.
  Faults: ${FAULT_NAMES.join(', ')}.
  Exit code 0 if all guarantees held, 1 if one was violated, 2 for invalid arguments.`;

/** @returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const options = optionsOf(args);
  if (options === undefined) {
    console.error(USAGE);
    return 2;
  }
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => stop.abort(new Error('the run was cancelled')));
  }
  const log = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
  const found = await soak({ ...options, signal: stop.signal, say: log });
  const commit = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: ROOT })
    .stdout.toString()
    .trim();
  const page = await writeReport(options.out, { ...found, machine: machine(), commit: commit || 'unknown' });
  for (const { guarantee, checked, violations } of found.checks) {
    console.log(`${violations.length === 0 ? 'held    ' : 'VIOLATED'}  ${guarantee} (${checked})`);
    for (const violation of violations) console.log(`          ${violation}`);
  }
  console.log(page);
  return found.checks.every(({ violations }) => violations.length === 0) ? 0 : 1;
}

function optionsOf(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { minutes: { type: 'string' }, only: { type: 'string' }, out: { type: 'string' } },
    });
    const minutes = Number(values.minutes ?? 30);
    const only = values.only?.split(',');
    if (!(minutes >= 1 && minutes <= 1440)) return undefined;
    if (only?.some((name) => !FAULT_NAMES.includes(name))) return undefined;
    return { minutes, only, out: values.out ?? join(ROOT, 'soak/results') };
  } catch {
    return undefined;
  }
}

process.exitCode = await main(process.argv.slice(2));
