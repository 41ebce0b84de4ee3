import { Badge, Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useCallback, useEffect, useState } from 'react';
import { LevelMeter } from '../../audio/display/level-meter.tsx';
import { LoudnessView } from '../../audio/display/loudness-view.tsx';
import { PushToTalkButton } from '../../audio/input/push-to-talk-button.tsx';
import { useSpaceKey } from '../../audio/input/space-key.ts';
import { useSession } from '../../client/session.tsx';
import { useConnection } from '../../client/use-connection.ts';
import { MessageAlert } from '../../components/feedback/message-alert.tsx';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { Panel } from '../../components/panel.tsx';
import { EMPTY_CONVERSATION } from './conversation.ts';
import { type ConversationSettings, DEFAULT_SETTINGS } from './conversation-settings.ts';
import { EventList } from './event-list.tsx';
import { EventLog } from './event-log.ts';
import { RealtimeConnection } from './realtime-connection.ts';
import { SessionFields } from './session-fields.tsx';
import { TurnList } from './turn-list.tsx';

const NO_EVENTS = new EventLog();

export default function RealtimePage() {
  const { client } = useSession();
  const [settings, setSettings] = useState(DEFAULT_SETTINGS);
  const change = useCallback(
    (part: Partial<ConversationSettings>) => setSettings((state) => ({ ...state, ...part })),
    [],
  );
  const { connection, isOpen, error, connect, disconnect } = useConnection(
    () => new RealtimeConnection(client, settings),
  );
  useEffect(() => connection?.configure(settings), [connection, settings]);
  const conversation = connection?.conversation ?? EMPTY_CONVERSATION;
  const log = connection?.log ?? NO_EVENTS;
  return (
    <Page
      title="Realtime"
      text="Live transcription and text to speech over one WebSocket."
      actions={
        <Button
          onClick={isOpen ? disconnect : connect}
          variant={isOpen ? 'default' : 'filled'}
          leftSection={<Icon name={isOpen ? 'stop' : 'microphone'} size={16} />}
        >
          {isOpen ? 'Disconnect' : connection === undefined ? 'Connect' : 'Reconnect'}
        </Button>
      }
    >
      <Panel title="Session">
        <SessionFields settings={settings} onChange={change} />
      </Panel>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        <Stack gap="lg" miw={0}>
          <Panel title="Microphone" actions={<ConnectionState connection={connection} />}>
            <ErrorAlerts connection={connection} error={error} />
            {connection !== undefined && (
              <MicrophoneControls connection={connection} isPushToTalk={settings.turns === 'hold'} />
            )}
            {connection === undefined && (
              <Text size="sm" c="dimmed">
                Connect and allow microphone access. Text to speech also works without a microphone.
              </Text>
            )}
          </Panel>
          <SpeakPanel connection={connection} />
        </Stack>
        <Panel title="Conversation">
          <TurnList turns={conversation.turns} />
        </Panel>
      </SimpleGrid>
      <Panel title="Events">
        <EventList log={log} version={log.version} />
      </Panel>
    </Page>
  );
}

/** Connection state as a badge. */
function ConnectionState({ connection }: { readonly connection: RealtimeConnection | undefined }) {
  const [message, color] = stateOf(connection);
  return (
    <Badge variant="light" color={color} role="status">
      {message}
    </Badge>
  );
}

function stateOf(connection: RealtimeConnection | undefined): readonly [message: string, color: string] {
  if (connection === undefined || connection.phase === 'ended') return ['not connected', 'gray'];
  if (connection.phase !== 'ready') return ['connecting', 'gray'];
  if (connection.conversation.isSpeechDetected || connection.isButtonDown)
    return ['receiving speech', 'green'];
  return connection.hasMicrophone ? ['listening', 'indigo'] : ['connected', 'indigo'];
}

/** Errors of the connection, the microphone and the session. */
function ErrorAlerts({
  connection,
  error,
}: {
  readonly connection: RealtimeConnection | undefined;
  readonly error: string | undefined;
}) {
  const closeReason = connection?.phase === 'ended' ? connection.closeReason : '';
  const { microphoneError } = connection ?? {};
  return (
    <>
      <MessageAlert message={error} />
      <MessageAlert message={closeReason === '' ? undefined : closeReason}>
        Reconnect to continue. A new connection starts a new conversation; this one stays visible until then.
      </MessageAlert>
      <MessageAlert message={microphoneError}>Text to speech still works.</MessageAlert>
      <MessageAlert message={connection?.conversation.sessionError} />
    </>
  );
}

function MicrophoneControls({
  connection,
  isPushToTalk,
}: {
  readonly connection: RealtimeConnection;
  readonly isPushToTalk: boolean;
}) {
  const press = useCallback(() => connection.press(), [connection]);
  const release = useCallback(() => connection.release(), [connection]);
  useSpaceKey(isPushToTalk && connection.hasMicrophone, press, release);
  return (
    <>
      <LevelMeter track={connection.track} label="Microphone level" />
      <LoudnessView
        track={connection.track}
        label="Loudness of the audio sent in the last seconds, with detected turns highlighted"
      />
      {isPushToTalk && (
        <Group gap="sm">
          <PushToTalkButton
            isDown={connection.isButtonDown}
            disabled={!connection.hasMicrophone}
            onPress={press}
            onRelease={release}
          />
          <Text size="sm" c="dimmed">
            You can also hold the space bar.
          </Text>
        </Group>
      )}
    </>
  );
}

/** Maximum length of a text. */
const MAX_CHARACTERS = 5000;

/** Text to speech over the same connection. */
function SpeakPanel({ connection }: { readonly connection: RealtimeConnection | undefined }) {
  const [text, setText] = useState('The kettle is on, and your tea will be ready in two minutes.');
  const isReady = connection?.phase === 'ready';
  return (
    <Panel title="Text to speech">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          connection?.speak(text);
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Text"
            value={text}
            maxLength={MAX_CHARACTERS}
            autoComplete="off"
            error={connection?.conversation.speechError}
            dir="auto"
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
          <Group gap="xs">
            <Button
              type="submit"
              disabled={!isReady || text.trim() === ''}
              leftSection={<Icon name="play" size={16} />}
            >
              Speak
            </Button>
            <Button
              variant="default"
              disabled={connection?.isSpeaking !== true}
              onClick={() => connection?.cancel()}
            >
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
