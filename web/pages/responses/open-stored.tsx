import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { Dialog } from '../../components/feedback/dialog.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import type { ConversationControl } from './use-conversation.ts';

/** Dialog that opens a stored response and its predecessors by id. */
export function OpenStored({
  conversation,
  onClose,
}: {
  readonly conversation: ConversationControl;
  readonly onClose: () => void;
}) {
  const [id, setId] = useState('');
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const open = async (event: SubmitEvent) => {
    event.preventDefault();
    setLoading(true);
    setError(undefined);
    try {
      await conversation.open(id.trim());
      onClose();
    } catch (error) {
      setError(toServiceError(error));
      setLoading(false);
    }
  };
  return (
    <Dialog onClose={onClose} title="Open a stored response">
      <form onSubmit={open}>
        <Stack>
          <TextInput
            label="Response ID"
            placeholder="resp_…"
            description="Shows the response with its predecessors. The conversation can be continued."
            value={id}
            onChange={({ currentTarget }) => setId(currentTarget.value)}
            data-autofocus
          />
          <ErrorAlert error={error} />
          <Group justify="flex-end">
            <Button type="submit" loading={isLoading} disabled={id.trim() === ''}>
              Open
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
