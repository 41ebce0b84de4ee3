import type { ReadyReport } from '../contract/engine.ts';
import type { ModelTable } from '../contract/plugin.ts';

/** The report of one of the things that a feature needs. */
export interface NamedReport {
  readonly name: string;
  readonly report: ReadyReport | undefined;
}

/** What each model of a table reports. */
export function modelReports(models: ModelTable<{ ready(): ReadyReport }>): NamedReport[] {
  return models.ids.map((name) => ({ name, report: models.get(name)?.ready() }));
}

/** Ready when all of them are; the detail names those that are not, or else all. */
export function readyTogether(reports: readonly NamedReport[]): ReadyReport {
  const missing = reports.filter(({ report }) => report?.ready !== true);
  const detail = (missing.length > 0 ? missing : reports)
    .map(({ name, report }) => `${name}: ${report?.detail ?? 'ready'}`)
    .join('; ');
  return { ready: missing.length === 0, detail };
}
