import { Anchor, Table, Text } from '@mantine/core';
import { Link } from 'wouter';
import { usePages } from '../../client/use-pages.ts';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { formatCount, formatTime } from '../../components/format.ts';
import { Pager } from '../../components/pager.tsx';
import { Panel } from '../../components/panel.tsx';
import { WideTable } from '../../components/wide-table.tsx';
import { isFinal } from './batch-view.ts';
import type { Batch } from './batch-wire.ts';
import { LinesProgress } from './lines-progress.tsx';
import { StatusBadge } from './status-badge.tsx';

const INTERVAL_MS = 10_000;
const RUNNING_INTERVAL_MS = 2000;

/** The organization's batches, newest first. */
export function BatchList() {
  const pages = usePages<Batch>(
    'v1/batches',
    { limit: 20 },
    {
      intervalMs: INTERVAL_MS,
      dynamicIntervalMs: (page) =>
        page?.data.some((batch) => !isFinal(batch)) ? RUNNING_INTERVAL_MS : undefined,
    },
  );
  const { page, error, reload } = pages;
  return (
    <Panel>
      <ErrorAlert error={error} onRetry={reload} />
      {page?.data.length === 0 && (
        <Empty text="No batches yet. A batch is a file with one request per line: upload a file, or enter a few texts to try it." />
      )}
      {page !== undefined && page.data.length > 0 && (
        <WideTable label="Batches" minWidth={320}>
          <Table verticalSpacing="xs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Batch</Table.Th>
                <Table.Th>Status</Table.Th>
                <Table.Th visibleFrom="sm">Endpoint</Table.Th>
                <Table.Th>Lines</Table.Th>
                <Table.Th visibleFrom="md">Created</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {page.data.map((batch) => (
                <Row key={batch.id} batch={batch} />
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )}
      <Pager pages={pages} />
    </Panel>
  );
}

function Row({ batch }: { readonly batch: Batch }) {
  const { total, completed, failed } = batch.request_counts;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/batches/${batch.id}`} size="sm" ff="monospace">
          {shortenId(batch.id)}
        </Anchor>
        {batch.metadata !== null && (
          <Text size="xs" c="dimmed" lineClamp={1} maw="16rem" style={{ overflowWrap: 'anywhere' }}>
            {Object.entries(batch.metadata)
              .map(([name, value]) => `${name}: ${value}`)
              .join(', ')}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <StatusBadge status={batch.status} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Text size="sm">{batch.endpoint}</Text>
        {batch.model !== null && (
          <Text size="xs" c="dimmed">
            {batch.model}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Text size="xs" mb={4}>
          {formatCount(completed + failed)} of {formatCount(total)}
          {failed > 0 && `, ${formatCount(failed)} failed`}
        </Text>
        {total > 0 && <LinesProgress batch={batch} size="sm" />}
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Text size="sm">{formatTime(batch.created_at)}</Text>
      </Table.Td>
    </Table.Tr>
  );
}

/** Shortens an id for display. */
function shortenId(id: string): string {
  return `${id.slice(0, 12)}…`;
}
