import { Code, Group, Stack, Table, Text } from '@mantine/core';
import { loadIntervalMs, type Model, type ModelEngine, type ModelTask } from '../../client/models.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { CopyAction } from '../../components/code-block.tsx';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { formatBytes } from '../../components/format.ts';
import { ModelLoadState } from '../../components/model-load-state.tsx';
import { Page } from '../../components/page.tsx';
import { Panel } from '../../components/panel.tsx';
import { WideTable } from '../../components/wide-table.tsx';

const TASKS: Readonly<Record<ModelTask, string>> = {
  speech: 'Text to speech',
  transcription: 'Speech to text',
  chat: 'Chat and responses',
  embeddings: 'Embeddings',
  video: 'Video',
  conversation: 'Conversation',
};

/** The models that requests can use, and the progress of their downloads. */
export default function ModelsPage() {
  const { client } = useSession();
  const models = useLoad(
    async (signal) => (await client.list<Model>('v1/models', { signal })).data,
    [client],
    { dynamicIntervalMs: (list) => loadIntervalMs(list ?? []) },
  );
  return (
    <Page
      title="Models"
      text="Models that requests can name. Large language models are downloaded and loaded by their first request. The size is that of the files, the memory that of a loaded language model."
    >
      <ErrorAlert error={models.error} onRetry={models.reload} />
      <Panel>
        {models.value?.length === 0 ? (
          <Empty text="No plugin that uses models is on." />
        ) : (
          <WideTable label="Models" minWidth={980}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Model</Table.Th>
                  <Table.Th>Task</Table.Th>
                  <Table.Th>Engine</Table.Th>
                  <Table.Th ta="right">Size</Table.Th>
                  <Table.Th ta="right">Memory</Table.Th>
                  <Table.Th>Licence</Table.Th>
                  <Table.Th>State</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {models.value?.map((model) => (
                  <ModelRow key={model.id} model={model} />
                ))}
              </Table.Tbody>
            </Table>
          </WideTable>
        )}
      </Panel>
    </Page>
  );
}

function ModelRow({ model }: { readonly model: Model }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Code>{model.id}</Code>
      </Table.Td>
      <Table.Td>{TASKS[model.task]}</Table.Td>
      <Table.Td>{engineOf(model.engine)}</Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {bytesOf(model.files?.size_bytes)}
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {bytesOf(model.files?.memory_bytes)}
      </Table.Td>
      <Table.Td>{model.files?.licence ?? '–'}</Table.Td>
      <Table.Td>
        <State model={model} />
      </Table.Td>
    </Table.Tr>
  );
}

/** The kind of an engine and its weights. */
function engineOf(engine: ModelEngine | undefined): string {
  if (engine === undefined) return '–';
  return engine.weights === undefined ? engine.kind : `${engine.kind}, ${engine.weights}`;
}

/** A dash for what the service does not know, such as the size of a model of another server. */
function bytesOf(bytes: number | undefined): string {
  return bytes === undefined ? '–' : formatBytes(bytes);
}

function State({ model: { id, load, ready } }: { readonly model: Model }) {
  const { organization } = useSession();
  if (load === undefined) {
    return (
      <Text size="sm" c={ready === false ? 'red' : 'dimmed'}>
        {ready === false ? 'Unavailable' : 'Available'}
      </Text>
    );
  }
  const canDownload = organization.operator && (load.state === 'not_loaded' || load.state === 'failed');
  const command = `bun run models fetch ${id}`;
  return (
    <Stack gap={4}>
      <ModelLoadState model={id} load={load} />
      {canDownload && (
        <div>
          <Text size="xs" c="dimmed">
            Download now, on the machine of the service:
          </Text>
          <Group gap={4} wrap="nowrap">
            <Code>{command}</Code>
            <CopyAction text={command} label={`Copy the download command of ${id}`} />
          </Group>
        </div>
      )}
    </Stack>
  );
}
