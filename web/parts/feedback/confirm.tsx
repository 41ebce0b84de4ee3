import { Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { type ServiceFault, toFault } from '../../client/service-fault.ts';
import { Dialog } from './dialog.tsx';
import { FaultNote } from './fault-note.tsx';

/** Confirmation dialog for an irreversible action. Stays open and shows the error if the action fails. */
export function Confirm(props: {
  readonly title: string;
  readonly text: ReactNode;
  /** Label of the confirm button. */
  readonly action: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState<ServiceFault>();
  const confirm = async () => {
    setRunning(true);
    setFault(undefined);
    try {
      await props.onConfirm();
      props.onClose();
    } catch (error) {
      setFault(toFault(error));
      setRunning(false);
    }
  };
  return (
    <Dialog onClose={props.onClose} title={props.title}>
      <Stack>
        <Text size="sm">{props.text}</Text>
        <FaultNote fault={fault} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.onClose} data-autofocus>
            Go back
          </Button>
          <Button color="red" loading={isRunning} onClick={confirm}>
            {props.action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
