import { Button, Group, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { ErrorAlert, fieldErrorMessage } from '../../components/feedback/error-alert.tsx';
import { Icon } from '../../components/icon.tsx';
import { LEXICON, type LexiconEntry } from './lexicon-wire.ts';

type Reading = 'phonemes' | 'respelling';
const FIELDS = ['word', 'language', 'phonemes', 'respelling'] as const;

/** Adds an entry, or replaces the one with the same word and language. */
export function EntryForm(props: {
  readonly onSaved: (entry: LexiconEntry) => void;
  /** Absent while no model is selected. */
  readonly onPreview: ((entry: LexiconEntry) => void) | undefined;
}) {
  const { client } = useSession();
  const [word, setWord] = useState('');
  const [language, setLanguage] = useState('');
  const [kind, setKind] = useState<Reading>('phonemes');
  const [reading, setReading] = useState('');
  const [error, setError] = useState<ServiceError>();
  const [isRunning, setRunning] = useState(false);

  const entry = {
    word: word.trim(),
    language: language.trim() || null,
    phonemes: kind === 'phonemes' ? reading.trim() : null,
    respelling: kind === 'respelling' ? reading.trim() : null,
  };
  const isComplete = entry.word !== '' && reading.trim() !== '';
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setRunning(true);
    setError(undefined);
    try {
      props.onSaved(await client.put<LexiconEntry>(LEXICON, entry));
      setWord('');
      setReading('');
    } catch (error) {
      setError(toServiceError(error));
    } finally {
      setRunning(false);
    }
  };

  return (
    <form onSubmit={submit} aria-label="New entry">
      <Stack gap="sm">
        <Group align="flex-start" gap="sm">
          <TextInput
            label="Word"
            description="A word or a short phrase"
            placeholder="Nguyen"
            value={word}
            onChange={({ currentTarget }) => setWord(currentTarget.value)}
            maxLength={100}
            spellCheck={false}
            error={fieldErrorMessage(error, 'word')}
            flex="2 1 12rem"
          />
          <TextInput
            label="Language"
            description="Empty for all"
            placeholder="en"
            value={language}
            onChange={({ currentTarget }) => setLanguage(currentTarget.value)}
            maxLength={35}
            spellCheck={false}
            autoCapitalize="none"
            error={fieldErrorMessage(error, 'language')}
            flex="1 1 8rem"
          />
          <TextInput
            label={kind === 'phonemes' ? 'Phonemes' : 'Respelling'}
            description={
              kind === 'phonemes'
                ? 'International Phonetic Alphabet'
                : 'Text that is read instead of the word'
            }
            placeholder={kind === 'phonemes' ? 'wɪn' : 'win'}
            value={reading}
            onChange={({ currentTarget }) => setReading(currentTarget.value)}
            maxLength={200}
            spellCheck={false}
            autoCapitalize="none"
            error={fieldErrorMessage(error, 'phonemes', 'respelling')}
            flex="2 1 14rem"
          />
        </Group>
        {!FIELDS.some((name) => name === error?.param) && <ErrorAlert error={error} />}
        <Group justify="space-between" gap="sm">
          <SegmentedControl
            aria-label="Kind of reading"
            data={[
              { value: 'phonemes', label: 'Phonemes' },
              { value: 'respelling', label: 'Respelling' },
            ]}
            value={kind}
            onChange={(value) => setKind(value as Reading)}
          />
          <Group gap="xs">
            <Button
              variant="default"
              disabled={!isComplete || props.onPreview === undefined}
              leftSection={<Icon name="play" size={16} />}
              onClick={() => props.onPreview?.(entry)}
            >
              Preview
            </Button>
            <Button type="submit" loading={isRunning} disabled={!isComplete}>
              Save entry
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}
