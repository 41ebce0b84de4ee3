import { Alert, Button, Center, Stack, Text } from '@mantine/core';
import { Component, type ReactNode } from 'react';

interface State {
  readonly error: unknown;
}

/**
 * What is shown when drawing fails: mostly a part of the console that the service no longer has, since it was
 * updated while this page was open.
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
        <Alert color="red" title="This page could not be shown" role="alert" maw="34rem">
          <Stack align="flex-start" gap="sm">
            <Text size="sm">
              The service may have been updated since the console was opened. Loading it again helps then.
            </Text>
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {error instanceof Error ? error.message : String(error)}
            </Text>
            <Button size="compact-md" onClick={() => location.reload()}>
              Load again
            </Button>
          </Stack>
        </Alert>
      </Center>
    );
  }
}
