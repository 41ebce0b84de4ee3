import { Stack } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { Empty } from '../../parts/empty.tsx';
import { FaultNote } from '../../parts/fault-note.tsx';
import { Pager, usePaging } from '../../parts/pager.tsx';
import { Panel } from '../../parts/panel.tsx';
import { VoiceCard } from './voice-card.tsx';
import type { Voice } from './voice-wire.ts';

const MOST_SHOWN = 20;
/** An improving voice is looked at again. */
const AGAIN_MS = 3000;

/** The voices of the organization, newest first. */
export function VoiceList() {
  const { client } = useSession();
  const paging = usePaging();
  const [improves, setImproves] = useState(false);
  const { value, fault, reload } = useLoad(
    async (signal) => {
      const query = { limit: MOST_SHOWN, after: paging.after };
      const page = await client.list<Voice>('v1/audio/voices', { signal, query });
      setImproves(page.data.some(({ status }) => status === 'improving'));
      return page;
    },
    [client, paging.after],
    { everyMs: improves ? AGAIN_MS : undefined },
  );
  return (
    <Panel title="Stored voices">
      <FaultNote fault={fault} onRetry={reload} />
      {value?.data.length === 0 && (
        <Empty
          text={
            paging.after === undefined
              ? 'No voices yet. A new one takes a clip of five to fifteen seconds.'
              : 'No older voices.'
          }
        />
      )}
      <Stack gap="md" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {value?.data.map((voice) => (
          <VoiceCard key={voice.id} voice={voice} onDeleted={reload} />
        ))}
      </Stack>
      <Pager paging={paging} page={value} />
    </Panel>
  );
}
