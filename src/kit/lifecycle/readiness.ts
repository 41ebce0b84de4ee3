import type { ReadyReport } from '../../contract/engines/engine.ts';
import type { ModelTable } from '../../contract/model-table.ts';

/** The report of a model or a component that a plugin uses. */
export interface NamedReport {
  readonly name: string;
  readonly report: ReadyReport | undefined;
}

/** The report of each model of a table. */
export function modelReports(models: ModelTable<{ ready(): ReadyReport }>): NamedReport[] {
  return models.ids.map((name) => ({ name, report: models.get(name)?.ready() }));
}

/**
 * Readiness of a plugin: ready while any of its models is, because it can still do part of its work. The detail names
 * everything that is unavailable, or what all of it runs on.
 * @param components what the plugin uses besides models; reported, but not enough to be ready.
 */
export function readyWithAnyModel(
  models: readonly NamedReport[],
  components: readonly NamedReport[] = [],
): ReadyReport {
  const reports = [...models, ...components];
  const unavailable = reports.filter(({ report }) => report?.ready !== true);
  const detail = (unavailable.length > 0 ? unavailable : reports)
    .map(({ name, report }) => `${name}: ${report?.detail ?? (report?.ready ? 'ready' : 'unavailable')}`)
    .join('; ');
  return { ready: models.some(({ report }) => report?.ready), detail };
}
