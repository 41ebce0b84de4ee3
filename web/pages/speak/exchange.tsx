import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ServiceFault } from '../../client/service-fault.ts';
import { FaultNote } from '../../parts/feedback/fault-note.tsx';
import { Figure } from '../../parts/figure.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { Panel } from '../../parts/panel.tsx';
import { secondsWords } from '../../parts/words.ts';

/** A request and, beside it, what comes of it: a form with a button that begins it and one that ends it. */
export function Exchange(props: {
  /** What is asked: its title, and the fields of the form. */
  readonly title: string;
  readonly fields: ReactNode;
  /** The button that begins. */
  readonly action: { readonly name: string; readonly icon?: IconName };
  readonly canStart: boolean;
  /** Whether nothing has come yet. */
  readonly isWaiting: boolean;
  readonly isRunning: boolean;
  readonly onStart: () => void;
  readonly onStop: () => void;
  /** What comes of it: its title, how far it is in a word, and the answer. */
  readonly answerTitle: string;
  readonly state: string;
  readonly answer: ReactNode;
  readonly fault: ServiceFault | undefined;
  /** Names of the fields that tell what the service says of them. */
  readonly toldByFields: readonly string[];
}) {
  const { action, fault, toldByFields } = props;
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
        title={props.answerTitle}
        actions={
          <Text size="sm" c="dimmed" role="status">
            {props.state}
          </Text>
        }
      >
        {(fault?.param == null || !toldByFields.includes(fault.param)) && <FaultNote fault={fault} />}
        {props.answer}
      </Panel>
    </SimpleGrid>
  );
}

/** A time that was measured, or a dash while there is none. */
export function SecondsFigure(props: { readonly name: string; readonly seconds: number | undefined }) {
  const { name, seconds } = props;
  return <Figure name={name}>{seconds === undefined ? '–' : secondsWords(seconds)}</Figure>;
}
