/** Batches: overhead per line, compared with loops that only read, parse and write. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeInput } from '../../batch/input-file.ts';
import type { Measure, Measured } from '../../batch/measured-process.ts';
import { type Row, report } from '../../report.ts';
import { median } from '../../statistics.ts';

const PROCESS = join(import.meta.dirname, '../../batch/measured-process.ts');
const LINES = 50_000;
const CHARACTERS = 400;
/** With the maximum number of lines, the file is slightly smaller than the limit of 200 MB. */
const LARGE_CHARACTERS = 4000;
const SMALL_LINES = 2000;
const ROUNDS = 3;

export async function benchBatch(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-batch-'));
  try {
    const input = join(folder, 'input.jsonl');
    const small = join(folder, 'small.jsonl');
    const large = join(folder, 'large.jsonl');
    await writeInput(input, LINES, CHARACTERS);
    await writeInput(small, SMALL_LINES, CHARACTERS);
    await writeInput(large, LINES, LARGE_CHARACTERS);
    const runs = {
      rewrite: { path: input, rounds: [] as Measured[] },
      batch: { path: input, rounds: [] as Measured[] },
      'billed-batch': { path: input, rounds: [] as Measured[] },
      parse: { path: large, rounds: [] as Measured[] },
      check: { path: large, rounds: [] as Measured[] },
    } satisfies Record<Measure, unknown>;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [what, { path, rounds }] of Object.entries(runs)) {
        const workFolder = join(folder, `${what}-${round}`);
        await mkdir(workFolder);
        rounds.push(await measureInProcess(what, path, small, workFolder));
        await rm(workFolder, { recursive: true });
      }
    }
    const ms = (what: Measure) => median(runs[what].rounds.map((round) => round.ms));
    const maximum = (what: Measure, of: 'grownMb' | 'maxPauseMs') =>
      Math.max(...runs[what].rounds.map((round) => round[of]));
    const rows: Row[] = [
      {
        measure: `${LINES} lines, stub operation`,
        ours: ms('batch'),
        peer: ms('rewrite'),
        unit: 'ms',
        target: 4,
      },
      { measure: 'the same: memory grows by', ours: maximum('batch', 'grownMb'), unit: 'MB', target: 100 },
      { measure: 'the same: longest pause', ours: maximum('batch', 'maxPauseMs'), unit: 'ms' },
      {
        measure: `${LINES} lines, stub operation with a usage row each`,
        ours: ms('billed-batch'),
        peer: ms('rewrite'),
        unit: 'ms',
      },
      {
        measure: 'the same: memory grows by',
        ours: maximum('billed-batch', 'grownMb'),
        unit: 'MB',
        target: 100,
      },
      { measure: 'the same: longest pause', ours: maximum('billed-batch', 'maxPauseMs'), unit: 'ms' },
      { measure: 'check of 200 MB', ours: ms('check'), peer: ms('parse'), unit: 'ms', target: 2 },
      { measure: 'the same: longest pause', ours: maximum('check', 'maxPauseMs'), unit: 'ms', target: 20 },
      { measure: 'the same: memory grows by', ours: maximum('check', 'grownMb'), unit: 'MB' },
    ];
    await report('batch', 'Batches compared with loops that only read, parse and write', rows, [
      `${ROUNDS} alternating rounds, each in a new process: ${SMALL_LINES} lines of warm-up, the file once for pauses and memory (maximum), and three times for the duration (median).`,
      'Baseline of the lines: reads the file, parses each line, writes a result line, and syncs the file at the end. This service: validates the input, runs the lines, stores results and progress in SQLite, and writes the result file. A ratio of 4 is a quarter of the rate.',
      'Baseline of the check: reads the file and parses each line. This service: from the blob on disk to the result of the process that validates each line.',
      'Pauses and memory are those of the API process.',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureInProcess(
  what: string,
  input: string,
  small: string,
  workFolder: string,
): Promise<Measured> {
  const child = Bun.spawn([process.execPath, PROCESS, what, input, small, workFolder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`the process that measures '${what}' failed`);
  return JSON.parse(output);
}
