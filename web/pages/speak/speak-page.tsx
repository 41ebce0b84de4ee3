import { Tabs } from '@mantine/core';
import { Page } from '../../parts/page.tsx';
import { HearTab } from './hear-tab.tsx';
import { SpeakTab } from './speak-tab.tsx';

export default function SpeakPage() {
  return (
    <Page title="Speech" text="Streaming text to speech, and transcription of recordings.">
      <Tabs defaultValue="speak" keepMounted>
        <Tabs.List mb="lg">
          <Tabs.Tab value="speak">Text to speech</Tabs.Tab>
          <Tabs.Tab value="hear">Transcription</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="speak">
          <SpeakTab />
        </Tabs.Panel>
        <Tabs.Panel value="hear">
          <HearTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
