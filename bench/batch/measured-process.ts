/**
 * Runs one measurement of a file in a separate process and prints the result as JSON.
 * `bun bench/batch/measured-process.ts <what> <input> <small input> <folder>`; the small input is the warm-up.
 */

import { join } from 'node:path';
import { openInput } from '../../plugins/batch/input/line-reader.ts';
import { ValidationPool } from '../../plugins/batch/input/validation/pool.ts';
import { median } from '../statistics.ts';
import { parseLoop, rewriteLoop } from './bare-loops.ts';
import { openStubService } from './stub-service.ts';
import { type Watched, watchThread } from './thread-watch.ts';

export const MEASURES = ['rewrite', 'parse', 'batch', 'billed-batch', 'check'] as const;
export type Measure = (typeof MEASURES)[number];

export interface Measured extends Watched {
  readonly ms: number;
}

const MAX_LINE_BYTES = 8 * 2 ** 20;
const never = new AbortController().signal;

/** Runs for the duration, after a first run for memory and pauses. */
const TIMED_RUNS = 3;

async function measured(run: () => Promise<void>): Promise<Measured> {
  Bun.gc(true);
  const watched = watchThread();
  await run();
  const watchResult = watched();
  const times: number[] = [];
  for (let i = 0; i < TIMED_RUNS; i += 1) {
    const from = performance.now();
    await run();
    times.push(performance.now() - from);
  }
  return { ms: median(times), ...watchResult };
}

async function check(input: string, small: string, folder: string): Promise<Measured> {
  const service = await openStubService(folder, { billed: false });
  const checks = new ValidationPool({ maxLineBytes: MAX_LINE_BYTES, waiting: 1 });
  const checkOf = async (path: string) => {
    const batch = await service.create(await service.upload(path));
    const { endpoint, organization } = batch;
    return async () => {
      const open = () => openInput(service, batch, never);
      const validation = await checks.validateInput({ open, endpoint, organization }, never);
      if (validation.kind === 'invalid') throw new Error(JSON.stringify(validation.errors[0]));
    };
  };
  await (await checkOf(small))();
  const result = await measured(await checkOf(input));
  await service.close();
  return result;
}

async function batch(input: string, small: string, folder: string, billed: boolean): Promise<Measured> {
  const service = await openStubService(folder, { billed });
  await service.run(await service.create(await service.upload(small)));
  const file = await service.upload(input);
  const result = await measured(async () => service.run(await service.create(file)));
  await service.close();
  return result;
}

async function rewrite(input: string, small: string, folder: string): Promise<Measured> {
  await rewriteLoop(small, join(folder, 'small.jsonl'));
  return await measured(() => rewriteLoop(input, join(folder, 'rewritten.jsonl')));
}

async function parse(input: string, small: string): Promise<Measured> {
  await parseLoop(small);
  return await measured(() => parseLoop(input));
}

const [, , what, input = '', small = '', folder = ''] = process.argv;
const runs: Record<Measure, () => Promise<Measured>> = {
  rewrite: () => rewrite(input, small, folder),
  parse: () => parse(input, small),
  batch: () => batch(input, small, folder, false),
  'billed-batch': () => batch(input, small, folder, true),
  check: () => check(input, small, folder),
};
console.log(JSON.stringify(await runs[what as Measure]()));
