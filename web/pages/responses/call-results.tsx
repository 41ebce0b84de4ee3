import { Code, Stack, Text, Textarea } from '@mantine/core';
import { formatJson } from '../../components/json-text.ts';
import type { CallItem } from './response-wire.ts';

/** Pending function calls: the model's arguments, and a field for each result. */
export function CallResults(props: {
  readonly calls: readonly CallItem[];
  /** Keyed by `call_id`. */
  readonly results: Readonly<Record<string, string>>;
  readonly onChange: (results: Readonly<Record<string, string>>) => void;
}) {
  const { calls, results, onChange } = props;
  return (
    <Stack gap="sm">
      <Text size="sm">
        The model called {calls.length === 1 ? 'a function' : 'functions'}. Say what they gave.
      </Text>
      {calls.map(({ call_id: callId, name, arguments: written }, index) => (
        <div key={callId}>
          <Code block mb={4}>
            {name}({formatJson(written)})
          </Code>
          <Textarea
            label={
              calls.length === 1 ? `Result of ${name}` : `Result ${index + 1} of ${calls.length}, ${name}`
            }
            placeholder='{"temperature": 21}'
            value={results[callId] ?? ''}
            onChange={({ currentTarget }) => onChange({ ...results, [callId]: currentTarget.value })}
            autosize
            maxRows={8}
          />
        </div>
      ))}
    </Stack>
  );
}
