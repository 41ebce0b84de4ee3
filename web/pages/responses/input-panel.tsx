import { Alert, Button, Group, SegmentedControl, Text, Textarea } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { readJson } from '../../components/json-text.ts';
import { Panel } from '../../components/panel.tsx';
import { CallResults } from './call-results.tsx';
import { continuedId, inputOf, openCalls } from './conversation.ts';
import type { ResponseForm } from './response-form.ts';
import type { InputItem } from './response-wire.ts';
import type { ConversationControl } from './use-conversation.ts';

type Mode = 'text' | 'items';

const EXAMPLE_ITEMS = JSON.stringify([{ role: 'user', content: 'Name three birds.' }], null, 2);

/** Input of the next turn: results of pending function calls and a text, or items as JSON. */
export function InputPanel({
  form,
  conversation,
}: {
  readonly form: ResponseForm;
  readonly conversation: ConversationControl;
}) {
  const { turns, fieldErrors, error, isRunning, send, stop } = conversation;
  const [mode, setMode] = useState<Mode>('text');
  const [text, setText] = useState('');
  const [items, setItems] = useState(EXAMPLE_ITEMS);
  const [itemsError, setItemsError] = useState<string>();
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  const calls = openCalls(turns);
  const previous = continuedId(turns);

  const submit = async () => {
    if (isRunning) return;
    if (mode === 'items') {
      const read = readJson(items);
      const isList = 'value' in read && Array.isArray(read.value);
      setItemsError('error' in read ? read.error : isList ? undefined : 'Items must be a list: [ … ].');
      if (isList) await send(form, read.value as InputItem[]);
      return;
    }
    const outputs = calls.map(({ call_id: callId }) => ({ callId, output: results[callId] ?? '' }));
    const sent = text;
    setText('');
    // A rejected input stays in the field so that it can be corrected.
    if (!(await send(form, inputOf(sent.trim(), outputs)))) setText((typed) => (typed === '' ? sent : typed));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  return (
    <Panel
      title={turns.length === 0 ? 'Input' : 'Next turn'}
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Input format"
          value={mode}
          onChange={(value) => setMode(value as Mode)}
          data={[
            { value: 'text', label: 'Text' },
            { value: 'items', label: 'Items as JSON' },
          ]}
        />
      }
    >
      {turns.length > 0 && <Continues previous={previous} />}
      {fieldErrors.previous !== undefined && (
        <Alert color="red" variant="light" p="xs" role="alert">
          {fieldErrors.previous}
        </Alert>
      )}
      {mode === 'text' && calls.length > 0 && (
        <CallResults calls={calls} results={results} onChange={setResults} />
      )}
      {mode === 'text' ? (
        <Textarea
          label={calls.length === 0 ? 'Message' : 'Message (optional)'}
          placeholder="Name three birds."
          description="Enter sends, Shift+Enter inserts a new line."
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={onKeyDown}
          error={fieldErrors.input}
          autosize
          minRows={2}
          maxRows={12}
        />
      ) : (
        <Textarea
          label="Input items"
          description="Messages, function calls and their results, in the format of the API."
          value={items}
          onChange={({ currentTarget }) => setItems(currentTarget.value)}
          error={itemsError ?? fieldErrors.input}
          styles={{ input: { fontFamily: 'var(--console-mono)', fontSize: 13 } }}
          spellCheck={false}
          autosize
          minRows={6}
          maxRows={24}
        />
      )}
      <ErrorAlert error={error} />
      <Group gap="xs">
        <Button onClick={submit} disabled={isRunning}>
          {calls.length > 0 && mode === 'text' ? 'Send results' : 'Send'}
        </Button>
        {isRunning && (
          <Button variant="default" onClick={stop}>
            Stop
          </Button>
        )}
      </Group>
    </Panel>
  );
}

function Continues({ previous }: { readonly previous: string | undefined }) {
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {previous === undefined
        ? 'This starts a new conversation: the previous responses are not stored.'
        : `Continues ${previous}.`}
    </Text>
  );
}
