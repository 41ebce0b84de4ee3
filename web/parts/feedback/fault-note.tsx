import { Alert, Button, Group, Text } from '@mantine/core';
import type { ServiceFault } from '../../client/service-fault.ts';
import { Icon } from '../icon.tsx';

/** An error message of the service with the request id for support. */
export function FaultNote(props: {
  readonly fault: ServiceFault | undefined;
  readonly onRetry?: (() => void) | undefined;
}) {
  const { fault, onRetry } = props;
  if (fault === undefined) return null;
  const about = [fault.status > 0 && `status ${fault.status}`, fault.code, fault.param, fault.requestId];
  return (
    <Alert color="red" variant="light" role="group" icon={<Icon name="warning" />} p="sm">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div>
          {/* Not part of the alert: a polled request fails with a new id each time, which screen readers would announce. */}
          <Text size="sm" role="alert">
            {fault.message}
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
export function faultOfField(
  fault: ServiceFault | undefined,
  ...names: readonly string[]
): string | undefined {
  return fault?.param != null && names.includes(fault.param) ? fault.message : undefined;
}
