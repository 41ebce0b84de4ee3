import { Button } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { NewVoicePanel } from './new-voice-panel.tsx';
import { StoredNote } from './stored-note.tsx';
import { VoiceList } from './voice-list.tsx';
import type { NewVoice } from './voice-wire.ts';

export default function VoicesPage() {
  const [isNew, setNew] = useState(false);
  const [stored, setStored] = useState<NewVoice>();
  const [newestId, setNewestId] = useState<string>();
  return (
    <Page
      title="Voices"
      text="Custom voices from short recordings, for speech requests and realtime sessions."
      actions={
        !isNew && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setNew(true)}>
            New voice
          </Button>
        )
      }
    >
      {isNew && (
        <NewVoicePanel
          onStored={(voice) => {
            setStored(voice);
            setNewestId(voice.id);
            setNew(false);
          }}
          onClose={() => setNew(false)}
        />
      )}
      {stored !== undefined && <StoredNote voice={stored} onClose={() => setStored(undefined)} />}
      {/* New voices are on the first page. */}
      <VoiceList key={newestId} />
    </Page>
  );
}
