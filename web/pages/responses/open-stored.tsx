import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { type ServiceFault, toFault } from '../../client/service-fault.ts';
import { Dialog } from '../../parts/feedback/dialog.tsx';
import { FaultNote } from '../../parts/feedback/fault-note.tsx';
import type { Talk } from './use-conversation.ts';

/** Dialog that opens a stored response and its predecessors by id. */
export function OpenStored({
  conversation,
  onClose,
}: {
  readonly conversation: Talk;
  readonly onClose: () => void;
}) {
  const [id, setId] = useState('');
  const [isLoading, setLoading] = useState(false);
  const [fault, setFault] = useState<ServiceFault>();
  const open = async (event: SubmitEvent) => {
    event.preventDefault();
    setLoading(true);
    setFault(undefined);
    try {
      await conversation.open(id.trim());
      onClose();
    } catch (error) {
      setFault(toFault(error));
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
          <FaultNote fault={fault} />
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
