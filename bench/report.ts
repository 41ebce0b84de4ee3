/** Writes what a bench measured: a table for people, with machine and date, under bench/results. */

import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

export interface Row {
  readonly measure: string;
  readonly ours: number;
  readonly peer?: number;
  readonly unit: string;
  /** Most that the number which {@link judged} names may be. */
  readonly target?: number;
  /** What the target limits; absent means the ratio of ours to the peer's where there is a peer, else ours. */
  readonly judged?: 'ours' | 'ratio' | 'difference';
}

/** The machine in words: processor, cores in use, memory. */
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
  const verdict = target === undefined ? '' : numbers[judged] <= target ? 'met' : '**missed**';
  return `| ${measure} | ${cell(ours, suffix)} | ${cell(peer, suffix)} | ${cell(ratio)} | ${limit} | ${verdict} |`;
}

async function commit(): Promise<string> {
  const child = Bun.spawn(['git', 'rev-parse', '--short', 'HEAD'], { stdout: 'pipe', stderr: 'ignore' });
  return (await new Response(child.stdout).text()).trim() || 'unknown';
}
