import { Alert, Button, Group, Text } from '@mantine/core';
import type { ServiceError } from '../../client/service-error.ts';
import { Icon } from '../icon.tsx';

/** An error message of the service with the request id for support. */
export function ErrorAlert(props: {
  readonly error: ServiceError | undefined;
  readonly onRetry?: (() => void) | undefined;
}) {
  const { error, onRetry } = props;
  if (error === undefined) return null;
  const about = [error.status > 0 && `status ${error.status}`, error.code, error.param, error.requestId];
  return (
    <Alert color="red" variant="light" role="group" icon={<Icon name="warning" />} p="sm">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div>
          {/* Not part of the alert: a polled request fails with a new id each time, which screen readers would announce. */}
          <Text size="sm" role="alert">
            {error.message}
          </Text>
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {about.filter(Boolean).join(' · ')}
          </Text>
        </div>
        {onRetry !== undefined && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** The error message for a form field, if the error is about this field. */
export function fieldErrorMessage(
  error: ServiceError | undefined,
  ...names: readonly string[]
): string | undefined {
  return error?.param != null && names.includes(error.param) ? error.message : undefined;
}
