import { Select } from '@mantine/core';
import type { ServiceFault } from '../../client/service-fault.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { faultOfField } from '../feedback/fault-note.tsx';

/** What a model is for, as `GET /v1/models` tells. */
export type ModelTask = 'speech' | 'transcription' | 'chat' | 'embeddings' | 'video';

interface Model {
  readonly id: string;
  readonly task: ModelTask;
}

/** The page is of little use without them, so they are asked for again until they come. */
const AGAIN_MS = 3000;

/** Chooses one of the service's models for a task; the first one until a person chose. */
export function ModelPicker(props: {
  readonly task: ModelTask;
  readonly value: string | undefined;
  readonly onChange: (model: string) => void;
  readonly label?: string;
  readonly disabled?: boolean;
  /** Shown at the field when it names `model`. */
  readonly fault?: ServiceFault | undefined;
}) {
  const { task, value, onChange } = props;
  const { client } = useSession();
  const {
    value: models,
    fault,
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
    { whileMs: (ids) => (ids === undefined ? AGAIN_MS : undefined) },
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
      error={fault?.message ?? faultOfField(props.fault, 'model')}
      comboboxProps={{ withinPortal: true }}
    />
  );
}
