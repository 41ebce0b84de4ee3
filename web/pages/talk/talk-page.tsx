import { Button } from '@mantine/core';
import { useCallback, useEffect, useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { useConnection } from '../../client/use-connection.ts';
import { useModels } from '../../client/use-models.ts';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { Panel } from '../../components/panel.tsx';
import { TalkSession } from './session/talk-session.ts';
import { SettingsPanel } from './settings/settings-panel.tsx';
import { DEFAULT_SETTINGS, type TalkSettings } from './settings/talk-settings.ts';
import { INITIAL_STATE, wordsOfTurn } from './state/session-state.ts';
import { LatencyPanel } from './view/latency-panel.tsx';
import { MessageForm } from './view/message-form.tsx';
import { Problems } from './view/problems.tsx';
import classes from './view/talk.module.css';
import { TalkControl } from './view/talk-control.tsx';
import { TranscriptList } from './view/transcript-list.tsx';

export default function TalkPage() {
  const { client } = useSession();
  const [settings, setSettings] = useState(DEFAULT_SETTINGS);
  const change = useCallback(
    (changes: Partial<TalkSettings>) => setSettings((before) => ({ ...before, ...changes })),
    [],
  );
  const [areSettingsShown, setSettingsShown] = useState(false);
  const models = useModels('conversation', settings.model, (model) => change({ model }));
  const control = useConnection(() => new TalkSession(client, settings));
  const { connection: session, isOpen } = control;
  useEffect(() => session?.configure(settings), [session, settings]);
  const state = session?.state ?? INITIAL_STATE;
  return (
    <Page
      title="Talk"
      text="Have a spoken conversation: speak, listen, and interrupt whenever you like."
      actions={
        <Button
          variant="default"
          leftSection={<Icon name="settings" size={16} />}
          aria-expanded={areSettingsShown}
          onClick={() => setSettingsShown(!areSettingsShown)}
        >
          Settings
        </Button>
      }
    >
      <Panel>
        <TalkControl
          session={session}
          canStart={settings.model !== undefined}
          mode={settings.mode}
          onMode={(mode) => change({ mode })}
          onStart={control.connect}
          onEnd={control.disconnect}
        />
        <Problems session={session} startError={control.error} models={models} onStart={control.connect} />
      </Panel>
      {areSettingsShown && (
        <SettingsPanel
          settings={settings}
          onChange={change}
          isOpen={isOpen}
          isVoiceFixed={isOpen && state.hasSpoken}
          hasModels={(models.value?.length ?? 0) > 1}
        />
      )}
      <div className={classes.columns}>
        <Panel title="Transcript">
          <TranscriptList entries={state.entries} session={session} />
          <MessageForm isEnabled={state.phase === 'ready'} onSend={(text) => session?.type(text)} />
        </Panel>
        <LatencyPanel turns={state.turns.map((turn) => ({ turn, words: wordsOfTurn(state, turn) }))} />
      </div>
    </Page>
  );
}
