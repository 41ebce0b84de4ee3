import { Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { Dialog } from './dialog.tsx';
import { ErrorAlert } from './error-alert.tsx';

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
  const [error, setError] = useState<ServiceError>();
  const confirm = async () => {
    setRunning(true);
    setError(undefined);
    try {
      await props.onConfirm();
      props.onClose();
    } catch (error) {
      setError(toServiceError(error));
      setRunning(false);
    }
  };
  return (
    <Dialog onClose={props.onClose} title={props.title}>
      <Stack>
        <Text size="sm">{props.text}</Text>
        <ErrorAlert error={error} />
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
