import { Alert, List, Text } from '@mantine/core';
import type { NewVoice } from './voice-wire.ts';

/** That a voice was stored, and what makes its clip a poor pattern. */
export function StoredNote({ voice, onClose }: { readonly voice: NewVoice; readonly onClose: () => void }) {
  const { name, status, warnings } = voice;
  return (
    <Alert
      color={warnings.length > 0 ? 'orange' : 'green'}
      variant="light"
      role="status"
      title={`${name} is stored`}
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      <Text size="sm">
        It can be used now{status === 'improving' ? ', and comes nearer to the speaker for a while' : ''}.
      </Text>
      {warnings.length > 0 && (
        <List size="sm" mt="xs">
          {warnings.map(({ code, message }) => (
            <List.Item key={code}>{message}</List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}
