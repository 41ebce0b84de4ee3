import { Button, Code, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import {
  loadIntervalMs,
  type Model,
  type ModelEngine,
  type ModelLoad,
  type ModelTask,
} from '../../client/models.ts';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
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
                  <ModelRow key={model.id} model={model} onLoad={models.reload} />
                ))}
              </Table.Tbody>
            </Table>
          </WideTable>
        )}
      </Panel>
    </Page>
  );
}

function ModelRow({ model, onLoad }: { readonly model: Model; readonly onLoad: () => void }) {
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
        <State model={model} onLoad={onLoad} />
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

function State(props: { readonly model: Model; readonly onLoad: () => void }) {
  const { model, onLoad } = props;
  const { organization } = useSession();
  if (model.load === undefined) {
    return (
      <Text size="sm" c={model.ready === false ? 'red' : 'dimmed'}>
        {model.ready === false ? 'Unavailable' : 'Available'}
      </Text>
    );
  }
  return (
    <Stack gap={4} align="flex-start">
      <ModelLoadState model={model.id} load={model.load} />
      {organization.operator && <LoadButton id={model.id} load={model.load} onLoad={onLoad} />}
    </Stack>
  );
}

/** Labels of the button in the states in which a load can be started. */
const LOAD_LABELS: Partial<Record<ModelLoad['state'], string>> = {
  not_loaded: 'Download and load now',
  failed: 'Try again now',
};

/** Starts the download and the load of a model that its first request would load otherwise. */
function LoadButton(props: { readonly id: string; readonly load: ModelLoad; readonly onLoad: () => void }) {
  const { id, load, onLoad } = props;
  const { client } = useSession();
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const label = LOAD_LABELS[load.state];
  if (label === undefined) return null;
  const start = async () => {
    setRunning(true);
    setError(undefined);
    try {
      await client.post(`v1/models/${encodeURIComponent(id)}/load`);
      onLoad();
    } catch (error) {
      setError(toServiceError(error));
    }
    setRunning(false);
  };
  return (
    <>
      <Button
        size="compact-xs"
        variant="light"
        loading={isRunning}
        onClick={start}
        aria-label={`${label}: ${id}`}
      >
        {label}
      </Button>
      <ErrorAlert error={error} />
    </>
  );
}
