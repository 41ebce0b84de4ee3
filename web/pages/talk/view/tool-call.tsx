import { Badge, Button, Code, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../../components/icon.tsx';
import { formatJson } from '../../../components/json-text.ts';
import type { TalkSession } from '../session/talk-session.ts';
import type { ToolEntry } from '../state/transcript.ts';
import classes from './talk.module.css';

interface ToolCallProps {
  readonly entry: ToolEntry;
  readonly session: TalkSession | undefined;
}

/** A function call with its arguments and its output, which the user enters if the browser does not run the function. */
export function ToolCall({ entry, session }: ToolCallProps) {
  const { name, output, isAutomatic } = entry;
  const isOpen = output === undefined && session !== undefined && !session.isEnded;
  return (
    <Stack gap={6}>
      <Group gap="xs">
        <Icon name="tool" size={16} />
        <Text size="xs" fw={600}>
          Function <Code>{name}</Code>
        </Text>
        {isOpen && (
          <Badge size="sm" variant="light" color={isAutomatic ? 'gray' : 'orange'}>
            {isAutomatic ? 'running' : 'needs output'}
          </Badge>
        )}
      </Group>
      <dl className={classes.call}>
        <dt>Arguments</dt>
        <dd>
          <pre>{formatJson(entry.arguments)}</pre>
        </dd>
        {output !== undefined && (
          <>
            <dt>Output</dt>
            <dd>
              <pre>{formatJson(output)}</pre>
            </dd>
          </>
        )}
      </dl>
      {isOpen && !isAutomatic && (
        <OutputForm name={name} onSend={(text) => session.sendToolOutput(entry.callId, text)} />
      )}
    </Stack>
  );
}

function OutputForm({ name, onSend }: { readonly name: string; readonly onSend: (output: string) => void }) {
  const [output, setOutput] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSend(output);
      }}
    >
      <Stack gap="xs" align="flex-start">
        <Textarea
          w="100%"
          label={`Output of ${name}`}
          description="This browser does not know the function. Enter what it returns."
          placeholder='{"status": "confirmed"}'
          value={output}
          onChange={({ currentTarget }) => setOutput(currentTarget.value)}
          autosize
          minRows={1}
          maxRows={6}
        />
        <Button type="submit" size="compact-sm">
          Send output
        </Button>
      </Stack>
    </form>
  );
}
