import { Button } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { Page } from '../../parts/page.tsx';
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
      text="Clips of people who speak become voices that speak any text, in speech requests and realtime sessions."
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
      {/* A new voice is at the beginning of the list. */}
      <VoiceList key={newestId} />
    </Page>
  );
}
