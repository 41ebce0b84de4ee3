import { Alert, Button, Center, Stack, Text } from '@mantine/core';
import { Component, type ReactNode } from 'react';

interface State {
  readonly error: unknown;
}

/**
 * Shown when rendering fails. The usual cause is a lazily loaded page whose file no longer exists because the
 * service was updated while the console was open.
 */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Center p="xl">
        <Alert color="red" title="This page could not be displayed" role="alert" maw="34rem">
          <Stack align="flex-start" gap="sm">
            <Text size="sm">
              The service may have been updated since the console was opened. Try to reload the page.
            </Text>
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {error instanceof Error ? error.message : String(error)}
            </Text>
            <Button size="compact-md" onClick={() => location.reload()}>
              Reload
            </Button>
          </Stack>
        </Alert>
      </Center>
    );
  }
}
