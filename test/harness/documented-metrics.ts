import { readFileSync } from 'node:fs';

/** A row of the tables in docs/guide/metrics.md. */
export interface DocumentedMetric {
  readonly kind: string;
  readonly labels: readonly string[];
}

const GUIDE = new URL('../../docs/guide/metrics.md', import.meta.url);
const ROW = /^\| `(\w+)` \| (counter|gauge|histogram) \| ([\w, ]*) ?\| .+ \|$/gm;

/** The page itself. */
export function metricsGuide(): string {
  return readFileSync(GUIDE, 'utf8');
}

/** Every metric of the tables, by name. Not those that only appear when a setting is there. */
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
