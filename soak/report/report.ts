/** The report of a soak run: Markdown and charts. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Chart, chartSvg, type Line } from './chart.ts';
import type { Check } from './check.ts';
import type { Call, CallEnd, Fault } from './ledger.ts';
import type { Growth } from './memory.ts';
import type { Sample } from './sampler.ts';
import { quantile } from './trend.ts';

export interface Findings {
  /** Description of the computer. */
  readonly machine: string;
  readonly commit: string;
  readonly startedAt: Date;
  readonly lengthMs: number;
  readonly missing: readonly string[];
  readonly calls: readonly Call[];
  readonly faults: readonly (Fault & { readonly what: string })[];
  /** Planned faults that could not be injected, with the reason. */
  readonly idle: readonly string[];
  readonly samples: readonly Sample[];
  readonly checks: readonly Check[];
  readonly growths: readonly Growth[];
  /** Messages of log lines at level `error`, with their number. */
  readonly errors: ReadonlyMap<string, number>;
}

const WINDOW_MS = 10_000;
/** Maximum number of violations of a guarantee that are listed; the others are only counted. */
const MAX_VIOLATIONS = 20;
const MAX_CALLS = 10;
const ENDS: readonly CallEnd[] = [
  ...(['right', 'rejected', 'failed', 'cut', 'unreachable', 'left', 'wrong', 'untyped', 'late'] as const),
];

/** Writes `<day>.md` and its charts. @returns the path of the page. */
export async function writeReport(folder: string, findings: Findings): Promise<string> {
  const day = findings.startedAt.toISOString().slice(0, 10);
  const charts = chartsOf(findings);
  await mkdir(folder, { recursive: true });
  for (const [name, chart] of Object.entries(charts)) {
    await writeFile(join(folder, `${day}-${name}.svg`), chartSvg(chart));
  }
  const images = Object.entries(charts).map(([name, { title }]) => `![${title}](${day}-${name}.svg)`);
  const page = join(folder, `${day}.md`);
  await writeFile(page, pageOf(findings, day, images));
  return page;
}

function pageOf(findings: Findings, day: string, images: readonly string[]): string {
  const { machine, commit, lengthMs, missing, checks, growths, errors } = findings;
  const violated = checks.reduce((sum, { violations }) => sum + violations.length, 0);
  const minutes = Math.round(lengthMs / 60_000);
  return [
    `# ${minutes} minutes of mixed load with faults`,
    '',
    `${day} · ${machine} · commit ${commit}`,
    '',
    `Load average of the computer, including unrelated processes: ${loadAverageOf(findings)}.`,
    '',
    ...(missing.length > 0
      ? [
          `Not available on this computer: ${missing.join(', ')}. Dependent faults and nodes were skipped.`,
          '',
        ]
      : []),
    violated === 0 ? 'All guarantees held.' : `**Guarantees were violated ${violated} times.**`,
    '',
    '## Guarantees',
    '',
    ...table(
      ['guarantee', 'checked', 'violations'],
      checks.map(({ guarantee, checked, violations }) => [guarantee, checked, violations.length]),
    ),
    ...checks.flatMap(({ guarantee, violations }) => [
      ...(violations.length > 0
        ? [`${guarantee}:`, '', ...violations.slice(0, MAX_VIOLATIONS).map((violation) => `- ${violation}`)]
        : []),
      ...(violations.length > MAX_VIOLATIONS ? [`- and ${violations.length - MAX_VIOLATIONS} more`] : []),
      ...(violations.length > 0 ? [''] : []),
    ]),
    '## Calls',
    '',
    ...callTables(findings),
    '## Faults',
    '',
    ...faultTable(findings),
    '## Growth',
    '',
    'Slope of the minimum per minute over the last two thirds of the run, ± half of the 95 % interval. Only the last process of',
    'each node, without its first minutes, and only if it ran long enough.',
    '',
    ...table(
      ['node', 'measure', 'per minute', 'maximum'],
      growths.map(({ node, what, unit, trend, max }) => [
        ...[node, what, `${signed(trend.perMinute)} ± ${trend.margin.toFixed(2)} ${unit}`, `${max} ${unit}`],
      ]),
    ),
    ...pauseTable(findings),
    ...images.flatMap((image) => [image, '']),
    '## Errors in the log',
    '',
    ...table(
      ['message', 'count'],
      [...errors].sort(([, one], [, other]) => other - one).map(([text, times]) => [text, times]),
    ),
  ].join('\n');
}

function loadAverageOf({ samples }: Findings): string {
  const loads = samples.map(({ loadAverage }) => loadAverage);
  const [median, max] = [quantile(loads, 0.5) ?? 0, quantile(loads, 1) ?? 0];
  return `median ${median.toFixed(1)}, maximum ${max.toFixed(1)}`;
}

function callTables({ calls }: Findings): string[] {
  const byLoad = Map.groupBy(calls, ({ load }) => load);
  const ends = ENDS.filter((end) => calls.some((call) => call.end === end));
  const details = Map.groupBy(
    calls.filter(({ end, detail }) => (end === 'rejected' || end === 'failed') && detail !== undefined),
    ({ load, end, detail }) => `${load}\t${end}\t${detail}`,
  );
  return [
    ...table(
      ['load', 'calls', ...ends, 'p50 s', 'p95 s', 'max s'],
      [...byLoad].map(([load, own]) => {
        const seconds = own.filter(({ end }) => end === 'right').map(secondsOf);
        const count = (end: CallEnd) => own.filter((call) => call.end === end).length || '';
        return [
          ...[load, own.length, ...ends.map(count)],
          ...[quantile(seconds, 0.5), quantile(seconds, 0.95), quantile(seconds, 1)].map(
            (value) => value?.toFixed(2) ?? '',
          ),
        ];
      }),
    ),
    'Slowest correct responses:',
    '',
    ...table(
      ['load', 'node', 'at minute', 's'],
      calls
        .filter(({ end }) => end === 'right')
        .toSorted((one, other) => secondsOf(other) - secondsOf(one))
        .slice(0, MAX_CALLS)
        .map((call) => [
          ...[call.load, call.node, (call.beganMs / 60_000).toFixed(1), secondsOf(call).toFixed(1)],
        ]),
    ),
    'Typed errors:',
    '',
    ...table(
      ['load', 'end', 'error', 'count'],
      [...details]
        .sort(([, one], [, other]) => other.length - one.length)
        .map(([key, own]) => [...key.split('\t'), own.length]),
    ),
  ];
}

const secondsOf = ({ beganMs, endedMs = beganMs }: Call) => (endedMs - beganMs) / 1000;

function faultTable({ faults, idle }: Findings): string[] {
  const byName = Map.groupBy(faults, ({ name }) => name);
  return [
    ...table(
      ['fault', 'description', 'count', 'at minute'],
      [...byName].map(([name, own]) => [
        ...[name, own[0]?.what ?? '', own.length],
        own.map(({ fromMs }) => (fromMs / 60_000).toFixed(1)).join(', '),
      ]),
    ),
    ...idle.map((reason) => `- ${reason}`),
    ...(idle.length > 0 ? [''] : []),
  ];
}

function pauseTable({ samples }: Findings): string[] {
  const byNode = Map.groupBy(samples, ({ node }) => node);
  return [
    'Longest pause of the event loop per 5 s:',
    '',
    ...table(
      ['node', 'p50 ms', 'p99 ms', 'max ms'],
      [...byNode].map(([node, own]) => {
        const pauses = own.flatMap(({ pauseS }) => (pauseS === undefined ? [] : [pauseS * 1000]));
        return [node, ...[0.5, 0.99, 1].map((share) => quantile(pauses, share)?.toFixed(0) ?? '')];
      }),
    ),
  ];
}

function chartsOf({ calls, samples: all, faults, lengthMs }: Findings): Record<string, Chart> {
  const samples = all.filter(({ atMs }) => atMs <= lengthMs);
  const marks = faults.map(({ name, fromMs, toMs = lengthMs }) => ({ name, fromMs, toMs }));
  const common = { marks, lengthMs };
  const ended = calls.filter(({ endedMs }) => endedMs !== undefined);
  const perWindow = (name: string, own: readonly Call[]): Line => ({
    name,
    points: windowsOf(own, lengthMs).map(({ atMs, inside }) => ({ atMs, value: inside.length })),
  });
  const failures = ENDS.filter((end) => end !== 'right' && end !== 'left');
  const latency = (share: number): Line => ({
    name: `p${share * 100}`,
    points: windowsOf(
      ended.filter(({ end }) => end === 'right'),
      lengthMs,
    ).flatMap(({ atMs, inside }) => {
      const value = quantile(inside.map(secondsOf), share);
      return value === undefined ? [] : [{ atMs, value }];
    }),
  });
  const perNode = (of: (sample: Sample) => number | undefined): Line[] =>
    [...Map.groupBy(samples, ({ node }) => node)].map(([name, own]) => ({
      name,
      points: own.flatMap((sample) => {
        const value = of(sample);
        return value === undefined ? [] : [{ atMs: sample.atMs, value }];
      }),
    }));
  const first = samples.filter(({ node }) => node === samples[0]?.node);
  const roles = [...new Set(first.flatMap(({ childrenKb }) => Object.keys(childrenKb)))];
  return {
    throughput: {
      title: 'Ended calls per 10 s',
      unit: '',
      ...common,
      lines: [
        perWindow(
          'right',
          ended.filter(({ end }) => end === 'right'),
        ),
        ...failures
          .map((end) =>
            perWindow(
              end,
              ended.filter((call) => call.end === end),
            ),
          )
          .filter(({ points }) => points.some(({ value }) => value > 0)),
      ],
    },
    latency: {
      title: 'Latency of correct responses, all loads',
      unit: 's',
      ...common,
      lines: [latency(0.5), latency(0.95)],
      isLogarithmic: true,
    },
    memory: {
      title: 'Memory of the API processes',
      unit: 'MB',
      ...common,
      lines: perNode(({ servingKb }) => servingKb / 1000),
    },
    processes: {
      title: `Memory of the processes of node ${samples[0]?.node}`,
      unit: 'MB',
      ...common,
      lines: roles.map((role) => ({
        name: role,
        points: first.map(({ atMs, childrenKb }) => ({ atMs, value: (childrenKb[role] ?? 0) / 1000 })),
      })),
    },
    handles: {
      title: 'Open files and sockets of the API processes',
      unit: '',
      ...common,
      lines: perNode(({ handles }) => handles),
    },
    pauses: {
      title: 'Longest pause of the event loop per 5 s',
      unit: 'ms',
      ...common,
      lines: perNode(({ pauseS }) => (pauseS === undefined ? undefined : pauseS * 1000)),
      isLogarithmic: true,
    },
  };
}

/** Calls by the 10 s window in which they ended. */
function windowsOf(calls: readonly Call[], lengthMs: number) {
  const windows = Array.from({ length: Math.ceil(lengthMs / WINDOW_MS) }, (_, at) => ({
    atMs: (at + 0.5) * WINDOW_MS,
    inside: [] as Call[],
  }));
  for (const call of calls) windows[Math.floor((call.endedMs ?? 0) / WINDOW_MS)]?.inside.push(call);
  return windows;
}

const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}
