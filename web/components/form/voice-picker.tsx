import { Select } from '@mantine/core';
import { usePlugin } from '../../client/plugin-states.tsx';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';

/** Maximum number of listed voices, the default limit per organization. */
const MAX_OFFERED = 100;

/** A voice of `GET /v1/audio/voices`. */
interface ListedVoice {
  readonly id: string;
  /** Of a stored voice. Voices of a model are known by their ids: several have the same name. */
  readonly name: string;
  /** BCP 47. Only of voices of a model. */
  readonly language?: string;
  readonly gender?: string;
}

/** Selects a voice of the model or a stored voice; without one the model uses its default voice. */
export function VoicePicker(props: {
  /** Model whose voices are offered in addition to the stored ones. */
  readonly model?: string | undefined;
  /** Id or name of the voice. */
  readonly value: string | undefined;
  readonly onChange: (voice: string | undefined) => void;
  /** Error of the service for this field. */
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}) {
  const { client } = useSession();
  const { model } = props;
  const plugin = usePlugin('voices');
  const isOff = plugin !== undefined && plugin.state !== 'on';
  const { value: voices = [], error } = useLoad(
    async (signal) => {
      if (isOff) return [];
      const voicesOf = async (query: Readonly<Record<string, string | number>>) =>
        (await client.list<ListedVoice>('v1/audio/voices', { signal, query })).data;
      const [stored, named] = await Promise.all([
        voicesOf({ limit: MAX_OFFERED }),
        model === undefined ? [] : voicesOf({ model }),
      ]);
      return [
        { group: 'Voices of the model', items: named.map(namedOption) },
        { group: 'Stored voices', items: stored.map(({ id, name }) => ({ value: id, label: name })) },
      ].filter(({ items }) => items.length > 0);
    },
    [client, isOff, model],
  );
  const count = voices.reduce((sum, { items }) => sum + items.length, 0);
  return (
    <Select
      label="Voice"
      placeholder="Default voice"
      data={voices}
      value={props.value ?? null}
      onChange={(id) => props.onChange(id ?? undefined)}
      clearable
      clearButtonProps={{ 'aria-label': 'Use the default voice' }}
      searchable={count > 10}
      nothingFoundMessage="No matching voices"
      disabled={(props.disabled ?? false) || isOff}
      error={props.error ?? error?.message}
    />
  );
}

function namedOption({ id, language, gender }: ListedVoice) {
  const details = [gender, language].filter((detail) => detail !== undefined);
  return { value: id, label: details.length === 0 ? id : `${id} (${details.join(', ')})` };
}
