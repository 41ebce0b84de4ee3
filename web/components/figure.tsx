import { Box, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A labelled value. Used in a `Group` or `SimpleGrid`. */
export function Figure(props: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Box className="figures">
      <Text size="xs" c="dimmed">
        {props.name}
      </Text>
      <Text size="lg" fw={600} lh={1.3}>
        {props.children}
      </Text>
    </Box>
  );
}
