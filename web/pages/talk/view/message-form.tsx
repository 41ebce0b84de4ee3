import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../../components/icon.tsx';

/** Maximum length of a message. */
const MAX_CHARACTERS = 5000;

/** Field for a typed message. */
export function MessageForm(props: { readonly isEnabled: boolean; readonly onSend: (text: string) => void }) {
  const { isEnabled, onSend } = props;
  const [text, setText] = useState('');
  const isSendable = isEnabled && text.trim() !== '';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSendable) return;
        onSend(text.trim());
        setText('');
      }}
    >
      <Group gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          aria-label="Message"
          placeholder={isEnabled ? 'Or type a message' : 'Start the conversation to type a message'}
          value={text}
          maxLength={MAX_CHARACTERS}
          autoComplete="off"
          dir="auto"
          disabled={!isEnabled}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Button type="submit" disabled={!isSendable} leftSection={<Icon name="send" size={16} />}>
          Send
        </Button>
      </Group>
    </form>
  );
}
