import type { MetricsRegistry } from '../../src/metrics/registry.ts';

/** The value of a series as `/metrics` shows it, `name{label="value"}`; undefined when it is not there. */
export async function metricValue(metrics: MetricsRegistry, series: string): Promise<number | undefined> {
  return seriesValue(await metrics.render(), series);
}

/** The same in a page that was read. */
export function seriesValue(page: string, series: string): number | undefined {
  const line = page.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
