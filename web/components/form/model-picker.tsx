import { Select, Stack } from '@mantine/core';
import type { ModelTask } from '../../client/models.ts';
import type { ServiceError } from '../../client/service-error.ts';
import { useModels } from '../../client/use-models.ts';
import { fieldErrorMessage } from '../feedback/error-alert.tsx';
import { ModelLoadState } from '../model-load-state.tsx';

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
  const { value: models, error, isLoading } = useModels(task, value, onChange);
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
