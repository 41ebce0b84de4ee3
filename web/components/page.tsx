import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/** Layout of a page: title, one-sentence description, actions and content. */
export function Page(props: {
  readonly title: string;
  readonly text?: ReactNode;
  /** Buttons next to the title. */
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${props.title} – Voice service`;
  }, [props.title]);
  return (
    <Stack gap="lg" maw={1120} mx="auto">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box flex="1 1 18rem">
          <Title order={1} size="h3">
            {props.title}
          </Title>
          {props.text !== undefined && (
            <Text c="dimmed" size="sm" maw="44rem" mt={2}>
              {props.text}
            </Text>
          )}
        </Box>
        {props.actions !== undefined && <Group gap="xs">{props.actions}</Group>}
      </Group>
      {props.children}
    </Stack>
  );
}
