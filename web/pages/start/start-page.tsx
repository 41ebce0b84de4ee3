import { Anchor, Code, Group, Paper, SimpleGrid, Text } from '@mantine/core';
import { Link } from 'wouter';
import { usePlugins } from '../../client/plugin-states.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { Panel } from '../../components/panel.tsx';
import { speechCommand } from './speech-command.ts';
import classes from './start.module.css';

/** Something to try, and the page for it. */
interface Suggestion {
  readonly path: string;
  /** Title of the page, as in the navigation. */
  readonly title: string;
  readonly icon: IconName;
  readonly text: string;
  /** The plugin that the page depends on. */
  readonly plugin: string;
}

const SUGGESTIONS: readonly Suggestion[] = [
  {
    path: '/speak',
    title: 'Speech',
    icon: 'speak',
    plugin: 'speech',
    text: 'Enter a text and listen to it, or transcribe a recording.',
  },
  {
    path: '/talk',
    title: 'Talk',
    icon: 'talk',
    plugin: 'realtime',
    text: 'Talk with a language model through your microphone.',
  },
  {
    path: '/voices',
    title: 'Voices',
    icon: 'voices',
    plugin: 'voices',
    text: 'Record 5 to 15 seconds and let the service speak with that voice.',
  },
  {
    path: '/responses',
    title: 'Responses',
    icon: 'responses',
    plugin: 'responses',
    text: 'Ask a language model, and copy the request as code.',
  },
  {
    path: '/batches',
    title: 'Batches',
    icon: 'batches',
    plugin: 'batch',
    text: 'Process many requests from one file.',
  },
  {
    path: '/video',
    title: 'Video',
    icon: 'video',
    plugin: 'video',
    text: 'Continue a clip.',
  },
];

/** The first page after the sign-in: what to try in the console and from code. */
export default function StartPage() {
  const plugins = usePlugins();
  // Until the states are known, all suggestions are shown.
  const stateOf = (name: string) => plugins.value?.find((plugin) => plugin.name === name)?.state ?? 'on';
  const command = speechCommand(document.baseURI);
  return (
    <Page title="Start" text="What you can try with this service.">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className={classes.list}>
        {SUGGESTIONS.filter(({ plugin }) => stateOf(plugin) === 'on').map(({ path, title, icon, text }) => (
          <Paper key={path} component="li" withBorder p="md">
            <Group gap="xs" wrap="nowrap" mb={4}>
              <Icon name={icon} />
              <Anchor component={Link} href={path} fw={600}>
                {title}
              </Anchor>
            </Group>
            <Text size="sm">{text}</Text>
          </Paper>
        ))}
      </SimpleGrid>
      <Panel title="From your code">
        <Text size="sm">
          Clients of the OpenAI SDKs need the base URL <Code>{String(new URL('v1', document.baseURI))}</Code>{' '}
          and a key of the page{' '}
          <Anchor component={Link} href="/keys" size="sm" underline="always">
            API keys
          </Anchor>
          . The{' '}
          <Anchor href="docs" size="sm" underline="always">
            documentation
          </Anchor>{' '}
          has examples in TypeScript and Python.
        </Text>
        <CodeBlock label="Speech with curl" text={command} />
      </Panel>
    </Page>
  );
}
