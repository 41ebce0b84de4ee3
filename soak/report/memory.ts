/** Detects growth of memory, handles and processes of the nodes from samples. */

import type { Check } from './check.ts';
import type { Sample } from './sampler.ts';
import { type Trend, trendOf } from './trend.ts';

/** Maximum memory growth of an API process in MB per minute. */
const MAX_MB_PER_MINUTE = 1;
/** Maximum growth of handles per minute. A leak of one handle per call is many times higher. */
const MAX_HANDLES_PER_MINUTE = 0.5;
/** Maximum growth of processes per minute. */
const MAX_PROCESSES_PER_MINUTE = 0.2;

export interface Growth {
  readonly node: string;
  readonly what: string;
  readonly unit: string;
  readonly trend: Trend;
  /** Acceptable growth per minute. */
  readonly max: number;
}

/** Time in which a process fills its caches and pools. */
const WARM_UP_MS = 180_000;
/**
 * Time in which the memory of a process still grows by compiled code, prepared statements and allocator arenas: about
 * 30 MB, most of it in ten minutes, while the number of heap objects is constant.
 */
const MEMORY_WARM_UP_MS = 600_000;
/** Minimum lifetime of a process. The slope of a shorter one is mostly noise. */
const MIN_MINUTES = 8;

/**
 * Growth of the last process of each node over the last two thirds of the run, for processes that ran long enough.
 * @param lengthMs length of the load.
 */
export function growths(samples: readonly Sample[], lengthMs: number): Growth[] {
  const byNode = Map.groupBy(samples, ({ node }) => node);
  return [...byNode].flatMap(([node, all]) => {
    const last = all.at(-1)?.pid;
    const life = all.filter(({ pid }) => pid === last);
    const lifeSince = (warmUpMs: number) => {
      const fromMs = Math.max(lengthMs / 3, (life[0]?.atMs ?? 0) + warmUpMs);
      return life.filter(({ atMs }) => atMs >= fromMs && atMs <= lengthMs);
    };
    const measures = [
      {
        what: 'memory of the API process',
        unit: 'MB',
        max: MAX_MB_PER_MINUTE,
        warmUpMs: MEMORY_WARM_UP_MS,
        of: (it: Sample) => it.servingKb / 1000,
      },
      {
        what: 'open files and sockets',
        unit: '',
        max: MAX_HANDLES_PER_MINUTE,
        warmUpMs: WARM_UP_MS,
        of: (it: Sample) => it.handles,
      },
      {
        what: 'processes',
        unit: '',
        max: MAX_PROCESSES_PER_MINUTE,
        warmUpMs: WARM_UP_MS,
        of: (it: Sample) => it.processes,
      },
    ];
    return measures.flatMap(({ what, unit, max, warmUpMs, of }) => {
      const trend = trendOf(lifeSince(warmUpMs).map((sample) => ({ atMs: sample.atMs, value: of(sample) })));
      return trend && trend.minutes >= MIN_MINUTES ? [{ node, what, unit, trend, max }] : [];
    });
  });
}

/** Growth above the limit whose 95 % confidence interval is above 0. */
export function growthCheck(all: readonly Growth[]): Check {
  const violations = all
    .filter(({ trend, max }) => trend.perMinute > max && trend.perMinute > trend.margin)
    .map(
      ({ node, what, unit, trend }) =>
        `${node}: ${what}: grows by ${trend.perMinute.toFixed(2)} ${unit} per minute`,
    );
  return {
    guarantee: 'memory, handles and processes are flat',
    checked: all.length,
    violations,
  };
}
