import type { UsageDay, UsageSummary } from './usage-wire.ts';

/** Metrics of the chart. */
export const MEASURES = [
  { value: 'requests', label: 'Requests' },
  { value: 'failed', label: 'Failed' },
  { value: 'input_tokens', label: 'Input tokens' },
  { value: 'output_tokens', label: 'Output tokens' },
  { value: 'characters', label: 'Characters' },
  { value: 'audio_seconds', label: 'Audio seconds' },
  { value: 'credits', label: 'Credits' },
] as const;
export type Measure = (typeof MEASURES)[number]['value'];

/** Dimension by which the chart is grouped. */
export type Split = 'endpoint' | 'model';

export interface UsageChart {
  /** Series names in descending order of their sums. */
  readonly series: readonly string[];
  /** One point per day, including days without usage: the name of the day and a value per series. */
  readonly points: readonly Readonly<Record<string, string | number>>[];
}

/** Maximum number of separate series; the rest is combined. */
const MAX_SERIES = 7;
/** Name of the series that combines the smallest ones. */
export const OTHERS = 'others';

/** Chart data: one bar per day, grouped by endpoint or model. */
export function chartOf({ from, to, data }: UsageSummary, measure: Measure, split: Split): UsageChart {
  const totals = new Map<string, number>();
  for (const row of data) totals.set(row[split], (totals.get(row[split]) ?? 0) + row[measure]);
  const largest = [...totals]
    .filter(([, total]) => total > 0)
    .sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1))
    .map(([name]) => name);
  const shown = largest.length > MAX_SERIES ? largest.slice(0, MAX_SERIES - 1) : largest;
  const series = shown.length < largest.length ? [...shown, OTHERS] : shown;

  const points = daysBetween(from, to).map((day) => {
    const values = new Map(series.map((name) => [name, 0]));
    for (const row of data) {
      if (row.day !== day || row[measure] === 0) continue;
      const name = shown.includes(row[split]) ? row[split] : OTHERS;
      values.set(name, (values.get(name) ?? 0) + row[measure]);
    }
    return { day, ...Object.fromEntries(values) };
  });
  return { series, points };
}

export type UsageTotal = Omit<UsageDay, 'day'>;

/** Totals by endpoint and model, in descending order of requests. */
export function totalsOf(data: readonly UsageDay[]): readonly UsageTotal[] {
  const totals = new Map<string, UsageTotal>();
  for (const { day: _, ...row } of data) {
    const key = `${row.endpoint}\n${row.model}`;
    const before = totals.get(key);
    totals.set(key, before === undefined ? row : added(before, row));
  }
  return [...totals.values()].sort((a, b) => b.requests - a.requests);
}

function added(a: UsageTotal, b: UsageTotal): UsageTotal {
  const sums = MEASURES.map(({ value }) => [value, a[value] + b[value]]);
  return { ...a, ...Object.fromEntries(sums) };
}

/** All days of the range, inclusive, such as `2026-11-22`. */
function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (
    const day = new Date(from);
    day.toISOString().slice(0, 10) <= to;
    day.setUTCDate(day.getUTCDate() + 1)
  ) {
    days.push(day.toISOString().slice(0, 10));
  }
  return days;
}
