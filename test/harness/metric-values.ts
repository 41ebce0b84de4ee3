import type { MetricsRegistry } from '../../src/metrics/registry.ts';

/** Value of a series `name{label="value"}` in `/metrics`; undefined if absent. */
export async function metricValue(metrics: MetricsRegistry, series: string): Promise<number | undefined> {
  return seriesValue(await metrics.render(), series);
}

/** Value of a series in the text of `/metrics`; undefined if absent. */
export function seriesValue(page: string, series: string): number | undefined {
  const line = page.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
