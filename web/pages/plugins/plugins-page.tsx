import { Badge, Group, List, SimpleGrid, Stack, Switch, Text, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { type PluginInfo, type PluginState, usePlugins } from '../../client/plugin-states.tsx';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { Confirm } from '../../components/feedback/confirm.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { Page } from '../../components/page.tsx';
import { Panel } from '../../components/panel.tsx';
import { documentedRoutes, reasonOf } from './plugin-view.ts';

const COLORS: Readonly<Record<PluginState, string>> = {
  on: 'green',
  starting: 'yellow',
  stopping: 'yellow',
  off: 'gray',
  failed: 'red',
};

/** One sentence per plugin. */
const ABOUT: Readonly<Record<string, string>> = {
  speech: 'Text to speech and transcription.',
  voices: 'Custom voices created from recordings.',
  realtime: 'Transcription and speech over one WebSocket.',
  partner: 'Speech and transcription endpoints for a voice-agent platform.',
  batch: 'File storage and batch processing.',
  responses: 'Language models: chat completions, responses and embeddings.',
  video: 'Video extension: continues clips.',
};

/** State of the plugins, with switches for operators. */
export default function PluginsPage() {
  const { organization } = useSession();
  const plugins = usePlugins();
  return (
    <Page
      title="Plugins"
      text={
        organization.operator
          ? 'Changes apply to all users and all machines of this deployment. Running requests finish before a plugin stops.'
          : 'Features of this service. Your key is not allowed to change them.'
      }
    >
      <ErrorAlert error={plugins.error} onRetry={plugins.reload} />
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
  const [isConfirming, setConfirming] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<ServiceError>();

  const set = (enabled: boolean) => client.post(`v1/plugins/${plugin.name}`, { enabled }).then(onChange);
  const switchOn = async () => {
    setRunning(true);
    setError(undefined);
    try {
      await set(true);
    } catch (error) {
      setError(toServiceError(error));
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
            <Tooltip label="The operator excluded this plugin from this machine" disabled={plugin.switchable}>
              <Switch
                checked={plugin.enabled && plugin.switchable}
                disabled={!plugin.switchable || isRunning}
                onChange={(event) => (event.currentTarget.checked ? switchOn() : setConfirming(true))}
                aria-label={`Plugin ${plugin.name}`}
              />
            </Tooltip>
          )}
        </Group>
      }
    >
      <Stack gap={6}>
        <Text size="sm">{ABOUT[plugin.name] ?? ''}</Text>
        {reasonOf(plugin) !== undefined && (
          <Text size="sm" {...(plugin.state !== 'failed' && { c: 'dimmed' })}>
            {reasonOf(plugin)}
          </Text>
        )}
        <Names label="Needs the plugin" names={plugin.needs} />
        <Names label="Needed by the plugin" names={plugin.needed_by} />
        <List size="xs" c="dimmed" ff="monospace" listStyleType="none" aria-label={`Paths of ${plugin.name}`}>
          {documentedRoutes(plugin.routes).map((route) => (
            <List.Item key={route} style={{ overflowWrap: 'anywhere' }}>
              {route}
            </List.Item>
          ))}
        </List>
      </Stack>
      <ErrorAlert error={error} />
      {isConfirming && (
        <Confirm
          title={`Disable ${plugin.name}?`}
          text="The plugin is disabled for all users of this service. Running requests finish; new requests are rejected until the plugin is enabled again."
          action="Disable"
          onConfirm={() => set(false)}
          onClose={() => setConfirming(false)}
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
