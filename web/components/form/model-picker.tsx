import { Select } from '@mantine/core';
import type { ServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { fieldErrorMessage } from '../feedback/error-alert.tsx';

/** Task of a model from `GET /v1/models`. */
export type ModelTask = 'speech' | 'transcription' | 'chat' | 'embeddings' | 'video';

interface Model {
  readonly id: string;
  readonly task: ModelTask;
}

/** Retry interval in ms: the page needs the models. */
const RETRY_MS = 3000;

/** Selects a model for a task; defaults to the first one. */
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
      const ids = data.filter((model) => model.task === task).map(({ id }) => id);
      const [first] = ids;
      if (first !== undefined && (value === undefined || !ids.includes(value))) onChange(first);
      return ids;
    },
    [client, task],
    { dynamicIntervalMs: (ids) => (ids === undefined ? RETRY_MS : undefined) },
  );
  return (
    <Select
      label={props.label ?? 'Model'}
      data={models ?? []}
      value={value ?? null}
      onChange={(id) => id !== null && onChange(id)}
      allowDeselect={false}
      disabled={props.disabled ?? false}
      placeholder={isLoading ? 'Loading' : 'None'}
      error={error?.message ?? fieldErrorMessage(props.error, 'model')}
      comboboxProps={{ withinPortal: true }}
    />
  );
}
