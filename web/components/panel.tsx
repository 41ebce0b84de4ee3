import { Group, Paper, Stack, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** A bordered section with a heading that names it. */
export function Panel(props: {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  const heading = props.title !== undefined && (
    <Group justify="space-between" gap="sm">
      <Title order={2} size="h4" id={id}>
        {props.title}
      </Title>
      {props.actions}
    </Group>
  );
  return (
    <Paper
      component="section"
      withBorder
      p="md"
      {...(props.title !== undefined && { 'aria-labelledby': id })}
      miw={0}
    >
      <Stack gap="md">
        {heading}
        {props.children}
      </Stack>
    </Paper>
  );
}
