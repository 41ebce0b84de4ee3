import { Tabs } from '@mantine/core';
import { Page } from '../../parts/page.tsx';
import { HearTab } from './hear-tab.tsx';
import { SpeakTab } from './speak-tab.tsx';

export default function SpeakPage() {
  return (
    <Page title="Speak and hear" text="A text, spoken while it is made. A recording, written down.">
      <Tabs defaultValue="speak" keepMounted>
        <Tabs.List mb="lg">
          <Tabs.Tab value="speak">Speak</Tabs.Tab>
          <Tabs.Tab value="hear">Hear</Tabs.Tab>
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
