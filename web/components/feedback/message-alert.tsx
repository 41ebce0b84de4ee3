import { Alert, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../icon.tsx';

/** An error in words; renders nothing without a message. */
export function MessageAlert(props: {
  readonly message: string | undefined;
  /** What the user can do. */
  readonly children?: ReactNode;
  /** A button. */
  readonly action?: ReactNode;
}) {
  const { message, children, action } = props;
  if (message === undefined) return null;
  return (
    <Alert color="red" variant="light" role="alert" p="sm" icon={<Icon name="warning" />}>
      <Group justify="space-between" gap="sm">
        <div>
          <Text size="sm">{message}</Text>
          <Text size="xs" c="dimmed">
            {children}
          </Text>
        </div>
        {action}
      </Group>
    </Alert>
  );
}
