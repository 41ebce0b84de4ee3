import { Tabs } from '@mantine/core';
import { Page } from '../../components/page.tsx';
import { SpeechTab } from './speech-tab.tsx';
import { TranscriptionTab } from './transcription-tab.tsx';

export default function SpeechPage() {
  return (
    <Page title="Speech" text="Streaming text to speech, and transcription of recordings.">
      <Tabs defaultValue="speak" keepMounted>
        <Tabs.List mb="lg">
          <Tabs.Tab value="speak">Text to speech</Tabs.Tab>
          <Tabs.Tab value="hear">Transcription</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="speak">
          <SpeechTab />
        </Tabs.Panel>
        <Tabs.Panel value="hear">
          <TranscriptionTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
