import { ActionIcon, Group, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useSpeech } from '../../audio/playback/use-speech.ts';
import type { ListPage } from '../../client/service-client.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { Confirm } from '../../components/feedback/confirm.tsx';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { ModelPicker } from '../../components/form/model-picker.tsx';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { Panel } from '../../components/panel.tsx';
import { WideTable } from '../../components/wide-table.tsx';
import { EntryForm } from './entry-form.tsx';
import { entryId, LEXICON, type LexiconEntry, previewOf } from './lexicon-wire.ts';

/** The pronunciation lexicon of the organization: list, add, hear and delete entries. */
export default function PronunciationPage() {
  const { client } = useSession();
  const { value, error, reload } = useLoad(
    (signal) => client.get<ListPage<LexiconEntry>>(LEXICON, { signal }),
    [client],
  );
  const [model, setModel] = useState<string>();
  const [saved, setSaved] = useState<string>();
  const [deleting, setDeleting] = useState<LexiconEntry>();
  const { speech, start } = useSpeech(client);
  const play = model === undefined ? undefined : (entry: LexiconEntry) => start(previewOf(entry, model));
  const entries = value?.data;

  return (
    <Page
      title="Pronunciation"
      text="How words are pronounced in all speech of your organization: by their sounds, or by a respelling that is read instead."
    >
      <Panel title="New entry">
        <EntryForm
          onPreview={play}
          onSaved={({ word }) => {
            setSaved(word);
            reload();
          }}
        />
        <Text size="xs" c="dimmed" role="status" mt="xs">
          {saved !== undefined && `Saved ${saved}.`}
        </Text>
      </Panel>
      <Panel title="Entries">
        <Stack gap="sm">
          <Group align="flex-end">
            <ModelPicker
              task="speech"
              label="Model for previews"
              value={model}
              onChange={setModel}
              error={speech.error}
            />
          </Group>
          {speech.error?.param !== 'model' && <ErrorAlert error={speech.error} />}
          <ErrorAlert error={error} onRetry={reload} />
          {entries?.length === 0 && <Empty text="No entries yet. Words are read as written." />}
          {entries !== undefined && entries.length > 0 && (
            <EntryTable entries={entries} onPlay={play} onDelete={setDeleting} />
          )}
        </Stack>
      </Panel>
      {deleting !== undefined && (
        <Confirm
          title="Delete this entry?"
          text={
            <>
              <b>{deleting.word}</b> is read as written again.
            </>
          }
          action="Delete entry"
          onConfirm={async () => {
            const { word, language } = deleting;
            await client.delete(LEXICON, { query: { word, language: language ?? undefined } });
            reload();
          }}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </Page>
  );
}

function EntryTable(props: {
  readonly entries: readonly LexiconEntry[];
  /** Absent while no model is selected. */
  readonly onPlay: ((entry: LexiconEntry) => void) | undefined;
  readonly onDelete: (entry: LexiconEntry) => void;
}) {
  return (
    <WideTable label="Lexicon" minWidth={560}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Word</Table.Th>
            <Table.Th>Language</Table.Th>
            <Table.Th>Reading</Table.Th>
            <Table.Th aria-label="Actions" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {props.entries.map((entry) => (
            <Table.Tr key={entryId(entry)}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{entry.word}</Table.Td>
              <Table.Td>{entry.language ?? 'all'}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {entry.phonemes === null ? `“${entry.respelling}”` : `/${entry.phonemes}/`}
              </Table.Td>
              <Table.Td>
                <Group gap="xs" justify="flex-end" wrap="nowrap">
                  <ActionIcon
                    variant="default"
                    disabled={props.onPlay === undefined}
                    aria-label={`Play ${entry.word}`}
                    onClick={() => props.onPlay?.(entry)}
                  >
                    <Icon name="play" size={16} />
                  </ActionIcon>
                  <ActionIcon
                    variant="default"
                    aria-label={`Delete ${entry.word}`}
                    onClick={() => props.onDelete(entry)}
                  >
                    <Icon name="trash" size={16} />
                  </ActionIcon>
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
