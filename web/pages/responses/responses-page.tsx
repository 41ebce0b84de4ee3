import { Button, Grid, Stack } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { InputPanel } from './input-panel.tsx';
import { OpenStored } from './open-stored.tsx';
import { NEW_FORM, type ResponseForm } from './response-form.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { TurnPanel } from './turn-panel.tsx';
import { useConversation } from './use-conversation.ts';

export default function ResponsesPage() {
  const [form, setForm] = useState<ResponseForm>(NEW_FORM);
  const [isOpening, setOpening] = useState(false);
  const conversation = useConversation();
  const change = (changes: Partial<ResponseForm>) => setForm((before) => ({ ...before, ...changes }));
  return (
    <Page
      title="Responses"
      text="Multi-turn conversations with a language model, with custom functions and built-in tools."
      actions={
        <>
          <Button variant="default" onClick={() => setOpening(true)}>
            Open stored response
          </Button>
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={16} />}
            onClick={conversation.clear}
            disabled={conversation.turns.length === 0}
          >
            New conversation
          </Button>
        </>
      }
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 7.5 }}>
          <Stack gap="md">
            {conversation.turns.map((turn, index) => (
              <TurnPanel key={turn.key} turn={turn} number={index + 1} conversation={conversation} />
            ))}
            <InputPanel form={form} conversation={conversation} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4.5 }}>
          <SettingsPanel form={form} onChange={change} fieldErrors={conversation.fieldErrors} />
        </Grid.Col>
      </Grid>
      {isOpening && <OpenStored conversation={conversation} onClose={() => setOpening(false)} />}
    </Page>
  );
}
