import { Stack } from '@mantine/core';
import { usePages } from '../../client/use-pages.ts';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { Pager } from '../../components/pager.tsx';
import { Panel } from '../../components/panel.tsx';
import { VoiceCard } from './voice-card.tsx';
import type { Voice } from './voice-wire.ts';

const MAX_SHOWN = 20;

/** The voices of the organization, newest first. */
export function VoiceList() {
  const pages = usePages<Voice>('v1/audio/voices', { limit: MAX_SHOWN });
  const { page, error, reload } = pages;
  return (
    <Panel title="Stored voices">
      <ErrorAlert error={error} onRetry={reload} />
      {page?.data.length === 0 && (
        <Empty
          text={
            pages.isFirst ? 'No voices yet. A new voice needs a clip of 5 to 15 seconds.' : 'No older voices.'
          }
        />
      )}
      <Stack gap="md" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {page?.data.map((voice) => (
          <VoiceCard key={voice.id} voice={voice} onDeleted={reload} />
        ))}
      </Stack>
      <Pager pages={pages} />
    </Panel>
  );
}
