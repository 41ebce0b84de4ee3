import { Badge, Group, SimpleGrid, Stack, Switch, Text, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { type PluginInfo, type PluginState, usePlugins } from '../../client/plugin-states.tsx';
import { type ServiceFault, toFault } from '../../client/service-fault.ts';
import { useSession } from '../../client/session.tsx';
import { Confirm } from '../../parts/feedback/confirm.tsx';
import { FaultNote } from '../../parts/feedback/fault-note.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';

const COLORS: Readonly<Record<PluginState, string>> = {
  on: 'green',
  starting: 'yellow',
  stopping: 'yellow',
  off: 'gray',
  failed: 'red',
};

/** What each is for, in a sentence. */
const ABOUT: Readonly<Record<string, string>> = {
  speech: 'Speaks texts, and writes down recordings.',
  voices: 'Stores voices that are made from recordings.',
  realtime: 'Hears and speaks over one connection.',
  partner: 'Hears and speaks for a voice-agent platform.',
  batch: 'Files, and many requests in one of them.',
  responses: 'Language models: chat, responses, embeddings.',
  video: 'Goes on with clips.',
};

/** What the service can do now, and switches for it. */
export default function PluginsPage() {
  const { organization } = useSession();
  const plugins = usePlugins();
  return (
    <Page
      title="Plugins"
      text={
        organization.operator
          ? 'What is switched off here is off for everybody, on every machine, until it is switched on again. Running work ends first.'
          : 'What this service does. Operators may switch it; this key is none of theirs.'
      }
    >
      <FaultNote fault={plugins.fault} onRetry={plugins.reload} />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {plugins.value?.map((plugin) => (
          <PluginCard
            key={plugin.name}
            plugin={plugin}
            canSwitch={organization.operator}
            onChange={plugins.reload}
          />
        ))}
      </SimpleGrid>
    </Page>
  );
}

function PluginCard(props: {
  readonly plugin: PluginInfo;
  readonly canSwitch: boolean;
  readonly onChange: () => void;
}) {
  const { plugin, canSwitch, onChange } = props;
  const { client } = useSession();
  const [isAsking, setAsking] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState<ServiceFault>();

  const set = (enabled: boolean) => client.post(`v1/plugins/${plugin.name}`, { enabled }).then(onChange);
  const switchOn = async () => {
    setRunning(true);
    setFault(undefined);
    try {
      await set(true);
    } catch (error) {
      setFault(toFault(error));
    }
    setRunning(false);
  };

  return (
    <Panel
      title={plugin.name}
      actions={
        <Group gap="sm">
          <Badge color={COLORS[plugin.state]} variant="light">
            {plugin.state}
          </Badge>
          {canSwitch && (
            <Tooltip label="Left out by the setting PLUGINS" disabled={plugin.switchable}>
              <Switch
                checked={plugin.enabled && plugin.switchable}
                disabled={!plugin.switchable || isRunning}
                onChange={(event) => (event.currentTarget.checked ? switchOn() : setAsking(true))}
                aria-label={`Plugin ${plugin.name}`}
              />
            </Tooltip>
          )}
        </Group>
      }
    >
      <Stack gap={6}>
        <Text size="sm">{ABOUT[plugin.name] ?? ''}</Text>
        {plugin.detail !== undefined && (
          <Text size="sm" {...(plugin.state !== 'failed' && { c: 'dimmed' })}>
            {plugin.detail}
          </Text>
        )}
        <Names label="Needs" names={plugin.needs} />
        <Names label="Needed by" names={plugin.needed_by} />
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {plugin.routes.join('  ')}
        </Text>
      </Stack>
      <FaultNote fault={fault} />
      {isAsking && (
        <Confirm
          title={`Switch off ${plugin.name}?`}
          text="For everybody who uses this service. What runs now is finished first; new requests are refused until it is switched on again."
          action="Switch off"
          onConfirm={() => set(false)}
          onClose={() => setAsking(false)}
        />
      )}
    </Panel>
  );
}

function Names({ label, names }: { readonly label: string; readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      {label} {names.join(', ')}
    </Text>
  );
}
