import { Select, Stack } from '@mantine/core';
import type { Model, ModelTask } from '../../client/models.ts';
import type { ServiceError } from '../../client/service-error.ts';
import type { Loaded } from '../../client/use-load.ts';
import { useModels } from '../../client/use-models.ts';
import { fieldErrorMessage } from '../feedback/error-alert.tsx';
import { ModelLoadState } from '../model-load-state.tsx';

interface ModelPickerProps {
  readonly value: string | undefined;
  readonly onChange: (model: string) => void;
  readonly label?: string;
  readonly disabled?: boolean;
  /** Shown at the field if its `param` is `model`. */
  readonly error?: ServiceError | undefined;
}

/** Selects a model for a task. */
export function ModelPicker({ task, ...props }: ModelPickerProps & { readonly task: ModelTask }) {
  return <LoadedModelPicker models={useModels(task, props.value, props.onChange)} {...props} />;
}

/** Selects one of the models that the caller has loaded, see {@link useModels}. */
export function LoadedModelPicker(props: ModelPickerProps & { readonly models: Loaded<readonly Model[]> }) {
  const { value, onChange } = props;
  const { value: models, error, isLoading } = props.models;
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
