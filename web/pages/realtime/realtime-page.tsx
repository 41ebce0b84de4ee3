import { Alert, Badge, Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useCallback, useEffect, useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { LevelMeter } from '../../sound/level-meter.tsx';
import { LoudnessView } from '../../sound/loudness-view.tsx';
import { NOTHING_SAID } from './conversation.ts';
import { EventList } from './event-list.tsx';
import { EventLog } from './event-log.ts';
import { HoldButton } from './hold-button.tsx';
import { SessionFields } from './session-fields.tsx';
import { useSpaceKey } from './space-key.ts';
import type { Talk } from './talk.ts';
import { type TalkSettings, USUAL_SETTINGS } from './talk-settings.ts';
import { TurnList } from './turn-list.tsx';
import { useTalk } from './use-talk.ts';

const NO_EVENTS = new EventLog();

export default function RealtimePage() {
  const { client } = useSession();
  const [settings, setSettings] = useState(USUAL_SETTINGS);
  const change = useCallback(
    (part: Partial<TalkSettings>) => setSettings((before) => ({ ...before, ...part })),
    [],
  );
  const { talk, isOpen, fault, connect, disconnect } = useTalk(client, settings);
  useEffect(() => talk?.configure(settings), [talk, settings]);
  const conversation = talk?.conversation ?? NOTHING_SAID;
  const log = talk?.log ?? NO_EVENTS;
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
          {isOpen ? 'Disconnect' : talk === undefined ? 'Connect' : 'Reconnect'}
        </Button>
      }
    >
      <Panel title="Session">
        <SessionFields settings={settings} onChange={change} />
      </Panel>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        <Stack gap="lg" miw={0}>
          <Panel title="Microphone" actions={<TalkState talk={talk} />}>
            <Faults talk={talk} fault={fault} />
            {talk !== undefined && <Sound talk={talk} isByHand={settings.turns === 'hold'} />}
            {talk === undefined && (
              <Text size="sm" c="dimmed">
                Connect and allow microphone access. Text to speech also works without a microphone.
              </Text>
            )}
          </Panel>
          <SpeakPanel talk={talk} />
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
function TalkState({ talk }: { readonly talk: Talk | undefined }) {
  const [words, color] = stateOf(talk);
  return (
    <Badge variant="light" color={color} role="status">
      {words}
    </Badge>
  );
}

function stateOf(talk: Talk | undefined): readonly [words: string, color: string] {
  if (talk === undefined || talk.phase === 'ended') return ['not connected', 'gray'];
  if (talk.phase !== 'ready') return ['connecting', 'gray'];
  if (talk.conversation.isHearing || talk.isHeld) return ['receiving speech', 'green'];
  return talk.hasMicrophone ? ['listening', 'indigo'] : ['connected', 'indigo'];
}

/** Errors of the connection, the microphone and the session. */
function Faults({ talk, fault }: { readonly talk: Talk | undefined; readonly fault: string | undefined }) {
  const ending = talk?.phase === 'ended' ? talk.ending : '';
  const { microphoneFault } = talk ?? {};
  return (
    <>
      <Fault words={fault} />
      <Fault words={ending === '' ? undefined : ending}>
        Reconnect to continue. A new connection starts a new conversation; this one stays visible until then.
      </Fault>
      <Fault words={microphoneFault}>Text to speech still works.</Fault>
      <Fault words={talk?.conversation.sessionFault} />
    </>
  );
}

function Fault(props: { readonly words: string | undefined; readonly children?: string }) {
  if (props.words === undefined) return null;
  return (
    <Alert color="red" variant="light" role="alert" p="sm" icon={<Icon name="warning" />}>
      <Text size="sm">{props.words}</Text>
      <Text size="xs" c="dimmed">
        {props.children}
      </Text>
    </Alert>
  );
}

function Sound({ talk, isByHand }: { readonly talk: Talk; readonly isByHand: boolean }) {
  const press = useCallback(() => talk.press(), [talk]);
  const release = useCallback(() => talk.release(), [talk]);
  useSpaceKey(isByHand && talk.hasMicrophone, press, release);
  return (
    <>
      <LevelMeter track={talk.track} label="Microphone level" />
      <LoudnessView
        track={talk.track}
        label="Loudness of the audio sent in the last seconds, with detected turns highlighted"
      />
      {isByHand && (
        <Group gap="sm">
          <HoldButton talk={talk} />
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
function SpeakPanel({ talk }: { readonly talk: Talk | undefined }) {
  const [text, setText] = useState('The kettle is on, and your tea will be ready in two minutes.');
  const isReady = talk?.phase === 'ready';
  return (
    <Panel title="Text to speech">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          talk?.speak(text);
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Text"
            value={text}
            maxLength={MAX_CHARACTERS}
            autoComplete="off"
            error={talk?.conversation.speechFault}
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
            <Button variant="default" disabled={talk?.isSpeaking !== true} onClick={() => talk?.cancel()}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
