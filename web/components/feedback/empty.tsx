import { Center, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Empty state of a list: explanation and next step. */
export function Empty(props: { readonly text: string; readonly children?: ReactNode }) {
  return (
    <Center py="xl" px="md">
      <Stack align="center" gap="sm">
        <Text c="dimmed" ta="center" maw="32rem">
          {props.text}
        </Text>
        {props.children}
      </Stack>
    </Center>
  );
}
