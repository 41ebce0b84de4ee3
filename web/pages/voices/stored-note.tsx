import { Alert, List, Text } from '@mantine/core';
import type { NewVoice } from './voice-wire.ts';

/** Confirms that a voice was created, with warnings about the quality of its clip. */
export function StoredNote({ voice, onClose }: { readonly voice: NewVoice; readonly onClose: () => void }) {
  const { name, warnings } = voice;
  return (
    <Alert
      color={warnings.length > 0 ? 'orange' : 'green'}
      variant="light"
      role="status"
      title={`Voice ${name} created`}
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      <Text size="sm">The voice can be used now.</Text>
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
