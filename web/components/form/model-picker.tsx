import { Select, Stack } from '@mantine/core';
import { defaultModel, loadIntervalMs, type Model, type ModelTask } from '../../client/models.ts';
import type { ServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { fieldErrorMessage } from '../feedback/error-alert.tsx';
import { ModelLoadState } from '../model-load-state.tsx';

/** Retry interval in ms: the page needs the models. */
const RETRY_MS = 3000;

/** Selects a model for a task. */
export function ModelPicker(props: {
  readonly task: ModelTask;
  readonly value: string | undefined;
  readonly onChange: (model: string) => void;
  readonly label?: string;
  readonly disabled?: boolean;
  /** Shown at the field if its `param` is `model`. */
  readonly error?: ServiceError | undefined;
}) {
  const { task, value, onChange } = props;
  const { client } = useSession();
  const {
    value: models,
    error,
    isLoading,
  } = useLoad(
    async (signal) => {
      const { data } = await client.list<Model>('v1/models', { signal });
      const matching = data.filter((model) => model.task === task);
      const preset = defaultModel(matching);
      if (preset !== undefined && !matching.some(({ id }) => id === value)) onChange(preset.id);
      return matching;
    },
    [client, task],
    {
      // Only the selected model is shown.
      dynamicIntervalMs: (list) =>
        list === undefined ? RETRY_MS : loadIntervalMs(list.filter(({ id }) => id === value)),
    },
  );
  const load = models?.find(({ id }) => id === value)?.load;
  return (
    <Stack gap={6}>
      <Select
        label={props.label ?? 'Model'}
        data={models?.map(({ id }) => id) ?? []}
        value={value ?? null}
        onChange={(id) => id !== null && onChange(id)}
        allowDeselect={false}
        disabled={props.disabled ?? false}
        placeholder={isLoading ? 'Loading' : 'None'}
        error={error?.message ?? fieldErrorMessage(props.error, 'model')}
        comboboxProps={{ withinPortal: true }}
      />
      {value !== undefined && load !== undefined && load.state !== 'loaded' && (
        <ModelLoadState model={value} load={load} />
      )}
    </Stack>
  );
}
