import { Code, Table, Text } from '@mantine/core';
import { loadIntervalMs, type Model, type ModelTask } from '../../client/models.ts';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
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
      text="Models that requests can name. Large language models are downloaded and loaded by their first request."
    >
      <ErrorAlert error={models.error} onRetry={models.reload} />
      <Panel>
        {models.value?.length === 0 ? (
          <Empty text="No plugin that uses models is on." />
        ) : (
          <WideTable label="Models" minWidth={560}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Model</Table.Th>
                  <Table.Th>Task</Table.Th>
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
      <Table.Td>
        {model.load === undefined ? (
          <Text size="sm" c="dimmed">
            Available
          </Text>
        ) : (
          <ModelLoadState model={model.id} load={model.load} />
        )}
      </Table.Td>
    </Table.Tr>
  );
}
