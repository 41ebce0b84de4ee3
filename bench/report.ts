/** Writes the results of a benchmark as a table with machine and date to bench/results. */

import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

export interface Row {
  readonly measure: string;
  readonly ours: number;
  readonly peer?: number;
  readonly unit: string;
  /** Maximum of the value that {@link judged} selects. */
  readonly target?: number;
  /** Value that the target limits; absent means the ratio if there is a peer, else `ours`. */
  readonly judged?: 'ours' | 'ratio' | 'difference';
}

/** Description of the machine: processor, cores, memory, Bun version. */
export function machine(): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpu?.model.trim() ?? process.arch}, ${cpus().length} cores, ${memory} GiB, Bun ${Bun.version}`;
}

/** Writes `bench/results/<date>-<name>.md` and prints the same. */
export async function report(
  name: string,
  title: string,
  rows: readonly Row[],
  notes: readonly string[] = [],
) {
  const date = new Date().toISOString().slice(0, 10);
  const lines = [
    `# ${title}`,
    '',
    `${date} · ${machine()} · commit ${await commit()}`,
    '',
    '| measure | this service | baseline | ratio | target | |',
    '|---|---|---|---|---|---|',
    ...rows.map(line),
    ...(notes.length > 0 ? ['', ...notes.map((note) => `- ${note}`)] : []),
    '',
  ];
  await Bun.write(join(import.meta.dirname, 'results', `${date}-${name}.md`), lines.join('\n'));
  console.log(lines.join('\n'));
}

function line(row: Row): string {
  const { measure, ours, peer, unit, target, judged = peer === undefined ? 'ours' : 'ratio' } = row;
  const ratio = peer === undefined ? undefined : ours / peer;
  const suffix = unit ? ` ${unit}` : '';
  const cell = (value: number | undefined, after = '') =>
    value === undefined ? '–' : `${Number(value.toPrecision(3))}${after}`;
  const numbers = { ours, ratio: ratio ?? ours, difference: ours - (peer ?? 0) };
  const limits = {
    ours: `≤ ${target}${suffix}`,
    ratio: `≤ ${target}`,
    difference: `≤ baseline + ${target}${suffix}`,
  };
  const limit = target === undefined ? '–' : limits[judged];
  const result = target === undefined ? '' : numbers[judged] <= target ? 'met' : '**missed**';
  return `| ${measure} | ${cell(ours, suffix)} | ${cell(peer, suffix)} | ${cell(ratio)} | ${limit} | ${result} |`;
}

async function commit(): Promise<string> {
  const child = Bun.spawn(['git', 'rev-parse', '--short', 'HEAD'], { stdout: 'pipe', stderr: 'ignore' });
  return (await new Response(child.stdout).text()).trim() || 'unknown';
}
