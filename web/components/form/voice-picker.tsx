import { Select } from '@mantine/core';
import { usePlugin } from '../../client/plugin-states.tsx';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';

/** Maximum number of listed voices, the default limit per organization. */
const MAX_OFFERED = 100;

/** Selects a stored voice; without one the model uses its default voice. */
export function VoicePicker(props: {
  /** Id of the voice. */
  readonly value: string | undefined;
  readonly onChange: (voice: string | undefined) => void;
  /** Error of the service for this field. */
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}) {
  const { client } = useSession();
  const plugin = usePlugin('voices');
  const isOff = plugin !== undefined && plugin.state !== 'on';
  const { value: voices = [], error } = useLoad(
    async (signal) => {
      if (isOff) return [];
      const query = { limit: MAX_OFFERED };
      const { data } = await client.list<{ readonly id: string; readonly name: string }>('v1/audio/voices', {
        signal,
        query,
      });
      return data.map(({ id, name }) => ({ value: id, label: name }));
    },
    [client, isOff],
  );
  return (
    <Select
      label="Voice"
      placeholder="Default voice"
      data={voices}
      value={props.value ?? null}
      onChange={(id) => props.onChange(id ?? undefined)}
      clearable
      clearButtonProps={{ 'aria-label': 'Use the default voice' }}
      searchable={voices.length > 10}
      nothingFoundMessage="No matching voices"
      disabled={(props.disabled ?? false) || isOff}
      error={props.error ?? error?.message}
    />
  );
}
