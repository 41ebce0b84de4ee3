import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ServiceError } from '../../client/service-error.ts';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { Figure } from '../../components/figure.tsx';
import { formatSeconds } from '../../components/format.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Panel } from '../../components/panel.tsx';

/** A request form next to its result, with buttons to start and stop the request. */
export function RequestPanel(props: {
  /** Title and fields of the form. */
  readonly title: string;
  readonly fields: ReactNode;
  /** The submit button. */
  readonly action: { readonly name: string; readonly icon?: IconName };
  readonly canStart: boolean;
  /** Whether the request is pending without any output. */
  readonly isWaiting: boolean;
  readonly isRunning: boolean;
  readonly onStart: () => void;
  readonly onStop: () => void;
  /** Title, status and content of the result. */
  readonly resultTitle: string;
  readonly state: string;
  readonly result: ReactNode;
  readonly error: ServiceError | undefined;
  /** Names of the fields that show their own errors. */
  readonly fieldsWithErrors: readonly string[];
}) {
  const { action, error, fieldsWithErrors } = props;
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <Panel title={props.title}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            props.onStart();
          }}
        >
          <Stack gap="md">
            {props.fields}
            <Group gap="xs">
              <Button
                type="submit"
                loading={props.isWaiting}
                disabled={!props.canStart}
                leftSection={action.icon && <Icon name={action.icon} size={16} />}
              >
                {action.name}
              </Button>
              <Button
                variant="default"
                disabled={!props.isRunning}
                onClick={props.onStop}
                leftSection={<Icon name="stop" size={16} />}
              >
                Stop
              </Button>
            </Group>
          </Stack>
        </form>
      </Panel>
      <Panel
        title={props.resultTitle}
        actions={
          <Text size="sm" c="dimmed" role="status">
            {props.state}
          </Text>
        }
      >
        {(error?.param == null || !fieldsWithErrors.includes(error.param)) && <ErrorAlert error={error} />}
        {props.result}
      </Panel>
    </SimpleGrid>
  );
}

/** A measured duration, or a dash if there is none. */
export function SecondsFigure(props: { readonly name: string; readonly seconds: number | undefined }) {
  const { name, seconds } = props;
  return <Figure name={name}>{seconds === undefined ? '–' : formatSeconds(seconds)}</Figure>;
}
