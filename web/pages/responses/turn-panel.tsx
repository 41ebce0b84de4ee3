import { Alert, Badge, Button, Group, SegmentedControl, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { CodeBlock, CopyAction } from '../../components/code-block.tsx';
import { Confirm } from '../../components/feedback/confirm.tsx';
import { formatCount, formatSeconds } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { codeSample, LANGUAGES, type Language } from './code-samples.ts';
import type { Turn } from './conversation.ts';
import { EventLog } from './event-log.tsx';
import { InputItemView, OutputItemView } from './turn-items.tsx';
import type { ConversationControl } from './use-conversation.ts';

/** One turn: request and response as text, events and code. */
export function TurnPanel(props: {
  readonly turn: Turn;
  readonly number: number;
  readonly conversation: ConversationControl;
}) {
  const { turn, number, conversation } = props;
  const { view, events, body } = turn;
  return (
    <Panel title={`Turn ${number}`} actions={<TurnActions turn={turn} conversation={conversation} />}>
      <Tabs defaultValue="answer" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="answer">Response</Tabs.Tab>
          {events.length > 0 && <Tabs.Tab value="events">Events</Tabs.Tab>}
          {body !== undefined && <Tabs.Tab value="code">Code</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="answer" pt="md">
          <Stack gap="sm">
            {turn.input.map((item, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the input is immutable
              <InputItemView key={index} item={item} />
            ))}
            <Stack gap="sm" aria-live="polite" aria-busy={turn.state === 'running'}>
              {view.output.map((item) => (
                <OutputItemView key={item.id} item={item} />
              ))}
            </Stack>
            {view.problem !== undefined && (
              <Alert
                color={view.status === 'incomplete' ? 'orange' : 'red'}
                variant="light"
                p="xs"
                role="alert"
              >
                {view.problem}
              </Alert>
            )}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="events" pt="md">
          <EventLog events={events} />
        </Tabs.Panel>
        <Tabs.Panel value="code" pt="md">
          {body !== undefined && <Samples body={body} />}
        </Tabs.Panel>
      </Tabs>
      <TurnFoot turn={turn} />
    </Panel>
  );
}

/** Labels of turns that are not complete; a complete turn shows the status of its response. */
const STATES = {
  running: { label: 'in progress', color: 'blue' },
  failed: { label: 'interrupted', color: 'red' },
  stopped: { label: 'stopped', color: 'orange' },
  deleted: { label: 'deleted', color: 'gray' },
} as const;
const STATUS_COLORS = {
  waiting: 'blue',
  in_progress: 'blue',
  completed: 'green',
  incomplete: 'orange',
  failed: 'red',
} as const;

function stateOf({ state, view: { status } }: Turn): { readonly label: string; readonly color: string } {
  if (state !== 'finished') return STATES[state];
  return { label: status.replace('_', ' '), color: STATUS_COLORS[status] };
}

/** Latency, token usage and id. */
function TurnFoot({ turn }: { readonly turn: Turn }) {
  const { view, times } = turn;
  const { label, color } = stateOf(turn);
  const { sentMs, firstMs, finishedMs } = times;
  const { usage } = view;
  const facts = [
    firstMs !== undefined && `first token after ${formatSeconds((firstMs - sentMs) / 1000)}`,
    finishedMs !== undefined && `complete after ${formatSeconds((finishedMs - sentMs) / 1000)}`,
    usage && `${formatCount(usage.input_tokens)} input tokens`,
    usage &&
      usage.input_tokens_details.cached_tokens > 0 &&
      `${usage.input_tokens_details.cached_tokens} cached`,
    usage && `${formatCount(usage.output_tokens)} out`,
    usage &&
      usage.output_tokens_details.reasoning_tokens > 0 &&
      `${usage.output_tokens_details.reasoning_tokens} reasoning`,
  ];
  return (
    <Group gap="xs" className="figures">
      <Badge variant="light" color={color} role="status">
        {label}
      </Badge>
      <Text size="xs" c="dimmed">
        {facts.filter(Boolean).join(' · ')}
      </Text>
      {view.id !== undefined && (
        <Group gap={4} wrap="nowrap">
          <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {view.id}
          </Text>
          <CopyAction text={view.id} label="Copy ID" />
        </Group>
      )}
    </Group>
  );
}

function TurnActions({
  turn,
  conversation,
}: {
  readonly turn: Turn;
  readonly conversation: ConversationControl;
}) {
  const [isDeleting, setDeleting] = useState(false);
  const { id, stored } = turn.view;
  if (turn.state === 'running') return null;
  return (
    <Group gap="xs">
      <Button
        variant="default"
        size="compact-sm"
        onClick={() => conversation.removeFrom(turn.key)}
        disabled={conversation.isRunning}
        title="Removes this turn and all later ones from this page. The next turn continues the previous one."
      >
        Remove from here
      </Button>
      {id !== undefined && stored && turn.state !== 'deleted' && (
        <Button variant="default" size="compact-sm" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      )}
      {isDeleting && id !== undefined && (
        <Confirm
          title="Delete this response?"
          text="This deletes the response and its input. Neither this response nor its successors can be continued."
          action="Delete response"
          onConfirm={() => conversation.deleteStored(turn.key, id)}
          onClose={() => setDeleting(false)}
        />
      )}
    </Group>
  );
}

const NAMES: Readonly<Record<Language, string>> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
};

function Samples({ body }: { readonly body: NonNullable<Turn['body']> }) {
  const { client } = useSession();
  const [language, setLanguage] = useState<Language>('curl');
  const baseUrl = client.address('v1');
  return (
    <Stack gap="sm" align="stretch">
      <SegmentedControl
        w="fit-content"
        size="xs"
        aria-label="Language"
        value={language}
        onChange={(value) => setLanguage(value as Language)}
        data={LANGUAGES.map((value) => ({ value, label: NAMES[value] }))}
      />
      <CodeBlock text={codeSample(language, baseUrl, body)} label={`${NAMES[language]} code`} />
      <Text size="xs" c="dimmed">
        The key is read from the API_KEY environment variable.
      </Text>
    </Stack>
  );
}
