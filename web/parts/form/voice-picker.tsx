import { Select } from '@mantine/core';
import { usePlugin } from '../../client/plugin-states.tsx';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';

/** Voices that are offered: as many as an organization has, unless its operator allows more. */
const MAX_OFFERED = 100;

/** Chooses a stored voice of the organization, or none: then the model speaks with its own. */
export function VoicePicker(props: {
  /** Its id. */
  readonly value: string | undefined;
  readonly onChange: (voice: string | undefined) => void;
  /** What the service said of it. */
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}) {
  const { client } = useSession();
  const plugin = usePlugin('voices');
  const isOff = plugin !== undefined && plugin.state !== 'on';
  const { value: voices = [], fault } = useLoad(
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
      placeholder="The model's own"
      data={voices}
      value={props.value ?? null}
      onChange={(id) => props.onChange(id ?? undefined)}
      clearable
      clearButtonProps={{ 'aria-label': "Take the model's own voice" }}
      searchable={voices.length > 10}
      nothingFoundMessage="No such voice"
      disabled={(props.disabled ?? false) || isOff}
      error={props.error ?? fault?.message}
    />
  );
}
