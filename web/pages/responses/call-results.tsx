import { Code, Stack, Text, Textarea } from '@mantine/core';
import { laidOut } from '../../parts/json-text.ts';
import type { CallItem } from './response-wire.ts';

/** For each call of a function of yours: what the model wrote, and a field for what your function gave. */
export function CallResults(props: {
  readonly calls: readonly CallItem[];
  /** By `call_id`. */
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
            {name}({laidOut(written)})
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
