import { readFileSync } from 'node:fs';

/** A row of the tables in docs/guide/metrics.md. */
export interface DocumentedMetric {
  readonly kind: string;
  readonly labels: readonly string[];
}

const GUIDE = new URL('../../docs/guide/metrics.md', import.meta.url);
const ROW = /^\| `(\w+)` \| (counter|gauge|histogram) \| ([\w, ]*) ?\| .+ \|$/gm;

/** The text of the page. */
export function metricsGuide(): string {
  return readFileSync(GUIDE, 'utf8');
}

/** All metrics of the tables, by name. Metrics that need a setting are not in the tables. */
export function documentedMetrics(): ReadonlyMap<string, DocumentedMetric> {
  return new Map(
    [...metricsGuide().matchAll(ROW)].map(([, name = '', kind = '', labels = '']) => [
      name,
      { kind, labels: wordsOf(labels) },
    ]),
  );
}

function wordsOf(list: string): readonly string[] {
  return list
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
