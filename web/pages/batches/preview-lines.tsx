import { Alert, Code, Stack, Text } from '@mantine/core';
import type { Preview } from './input-preview.ts';

/** The first lines of an input file, with hints about errors. */
export function PreviewLines({ preview }: { readonly preview: Preview }) {
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        First lines
      </Text>
      {preview.hint !== undefined && (
        <Alert color="orange" variant="light" p="xs">
          {preview.hint}
        </Alert>
      )}
      {preview.lines.map(({ number, text, hint }) => (
        <div key={number}>
          <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {text}
          </Code>
          {hint !== undefined && (
            <Text size="sm" c="orange">
              Line {number}: {hint}
            </Text>
          )}
        </div>
      ))}
    </Stack>
  );
}
