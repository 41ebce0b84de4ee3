/** Detects growth of memory, handles and processes of the nodes from samples. */

import type { Check } from './check.ts';
import type { Sample } from './sampler.ts';
import { type Trend, trendOf } from './trend.ts';

/** MB a minute that a serving process may grow by. */
const MAX_MB_A_MINUTE = 1;
/** Handles a minute: one that every call would leave is many times that. */
const MAX_HANDLES_A_MINUTE = 0.5;
/** Processes that no call may leave. */
const MAX_PROCESSES_A_MINUTE = 0.2;

export interface Growth {
  readonly node: string;
  readonly what: string;
  readonly unit: string;
  readonly trend: Trend;
  readonly most: number;
}

/** In which a process is still filling its caches and pools. */
const WARM_UP_MS = 180_000;
/**
 * In which its memory still grows by compiled code, statements and arenas of the allocator: a process that is asked for
 * everything gets some 30 MB by that, most of it in ten minutes, while the objects of its heap are as many as before.
 */
const MEMORY_WARM_UP_MS = 600_000;
/** What a shorter life says of growth is mostly chance. */
const MIN_MINUTES = 8;

/**
 * How the last process of each machine grew over the last two thirds of the run, if it lived for long enough.
 * @param wholeMs length of the load.
 */
export function growths(samples: readonly Sample[], wholeMs: number): Growth[] {
  const byNode = Map.groupBy(samples, ({ node }) => node);
  return [...byNode].flatMap(([node, all]) => {
    const last = all.at(-1)?.pid;
    const life = all.filter(({ pid }) => pid === last);
    const lifeSince = (warmUpMs: number) => {
      const fromMs = Math.max(wholeMs / 3, (life[0]?.atMs ?? 0) + warmUpMs);
      return life.filter(({ atMs }) => atMs >= fromMs && atMs <= wholeMs);
    };
    const measures = [
      {
        what: 'memory of the serving process',
        unit: 'MB',
        most: MAX_MB_A_MINUTE,
        warmUpMs: MEMORY_WARM_UP_MS,
        of: (it: Sample) => it.servingKb / 1000,
      },
      {
        what: 'open files and sockets',
        unit: '',
        most: MAX_HANDLES_A_MINUTE,
        warmUpMs: WARM_UP_MS,
        of: (it: Sample) => it.handles,
      },
      {
        what: 'processes',
        unit: '',
        most: MAX_PROCESSES_A_MINUTE,
        warmUpMs: WARM_UP_MS,
        of: (it: Sample) => it.processes,
      },
    ];
    return measures.flatMap(({ what, unit, most, warmUpMs, of }) => {
      const trend = trendOf(lifeSince(warmUpMs).map((sample) => ({ atMs: sample.atMs, value: of(sample) })));
      return trend && trend.minutes >= MIN_MINUTES ? [{ node, what, unit, trend, most }] : [];
    });
  });
}

/** Growth above the limit whose 95 % confidence interval is above 0. */
export function growthCheck(all: readonly Growth[]): Check {
  const violations = all
    .filter(({ trend, most }) => trend.perMinute > most && trend.perMinute > trend.margin)
    .map(
      ({ node, what, unit, trend }) =>
        `${node}: ${what}: ${trend.perMinute.toFixed(2)} ${unit} a minute more`,
    );
  return {
    guarantee: 'memory, handles and processes are flat',
    checked: all.length,
    violations,
  };
}
