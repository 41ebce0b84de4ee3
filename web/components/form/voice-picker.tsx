import { Select } from '@mantine/core';
import { type ListedVoice, useVoices, type Voices } from '../../client/use-voices.ts';
import { languageName } from '../language-name.ts';

interface VoicePickerProps {
  /** Id or name of the voice. */
  readonly value: string | undefined;
  readonly onChange: (voice: string | undefined) => void;
  /** Error of the service for this field. */
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}

/**
 * Selects a voice of the model or a stored voice; without one the model uses its default voice.
 * @param props.model model whose voices are offered in addition to the stored ones.
 */
export function VoicePicker({ model, ...props }: VoicePickerProps & { readonly model?: string | undefined }) {
  return <LoadedVoicePicker voices={useVoices(model)} {...props} />;
}

/** Selects one of the voices that the caller has loaded, see {@link useVoices}. */
export function LoadedVoicePicker(
  props: VoicePickerProps & { readonly voices: ReturnType<typeof useVoices> },
) {
  const { value: voices, error, isOff } = props.voices;
  const groups = voices === undefined ? [] : groupsOf(voices);
  const count = groups.reduce((sum, { items }) => sum + items.length, 0);
  return (
    <Select
      label="Voice"
      placeholder="Default voice"
      data={groups}
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

/** Voices of the model by language, in the order of the model; then the stored voices. */
function groupsOf({ named, stored }: Voices) {
  const byLanguage = Map.groupBy(named, ({ language }) => language);
  return [
    ...[...byLanguage].map(([language, voices]) => ({
      group: language === undefined ? 'Voices of the model' : languageName(language),
      items: voices.map(namedOption),
    })),
    { group: 'Stored voices', items: stored.map(({ id, name }) => ({ value: id, label: name })) },
  ].filter(({ items }) => items.length > 0);
}

function namedOption({ id, gender }: ListedVoice) {
  return { value: id, label: gender === undefined ? id : `${id} (${gender})` };
}
