import type { Slots } from '../contract/plugin.ts';
import type { PooledModel } from '../inference/on-demand/pooled-models.ts';
import { COMPONENTS, familiesOf } from './families.ts';
import { ENGINE_TASKS, type ModelTables, SLOT_OF_TASK } from './family.ts';

/** The models of the pool that these slots need. */
export function pooledModels(
  needs: ReadonlySet<keyof Slots>,
  tables: ModelTables,
  modelsDir: string,
): PooledModel[] {
  const tasks = ENGINE_TASKS.filter((task) => needs.has(SLOT_OF_TASK[task]));
  const configured = tasks.flatMap((task) =>
    familiesOf(task).flatMap(({ kind, pool, files }) => {
      if (pool === undefined) return [];
      const own = [...tables[task].values()].filter((settings) => settings.kind === kind);
      return [...Map.groupBy(own, pool.name)].flatMap(([name, [first, ...others]]) => {
        if (first === undefined) return [];
        const { hub } = files(first).outside ?? {};
        return [{ name, hub, spec: () => pool.spec([first, ...others], modelsDir) }];
      });
    }),
  );
  const components = COMPONENTS.filter(({ slot }) => needs.has(slot)).flatMap(({ pooled }) => {
    const { name, spec } = pooled?.(modelsDir) ?? {};
    return name === undefined || spec === undefined ? [] : [{ name, hub: undefined, spec: () => spec }];
  });
  return [...configured, ...components];
}
