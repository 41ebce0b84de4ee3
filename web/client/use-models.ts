import { defaultModel, loadIntervalMs, type Model, type ModelTask } from './models.ts';
import { useSession } from './session.tsx';
import { type Loaded, useLoad } from './use-load.ts';

/** Retry interval in ms: the page needs the models. */
const RETRY_MS = 3000;

/**
 * The models for a task.
 * @param selected id of the selected model; another one is selected if there is no such model.
 */
export function useModels(
  task: ModelTask,
  selected: string | undefined,
  select: (model: string) => void,
): Loaded<readonly Model[]> {
  const { client } = useSession();
  return useLoad(
    async (signal) => {
      const { data } = await client.list<Model>('v1/models', { signal });
      const matching = data.filter((model) => model.task === task);
      const preset = defaultModel(matching);
      if (preset !== undefined && !matching.some(({ id }) => id === selected)) select(preset.id);
      return matching;
    },
    [client, task],
    {
      // Only the selected model is shown.
      dynamicIntervalMs: (list) =>
        list === undefined ? RETRY_MS : loadIntervalMs(list.filter(({ id }) => id === selected)),
    },
  );
}
