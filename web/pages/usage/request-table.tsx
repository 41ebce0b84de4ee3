import { Badge, Code, Select, Table } from '@mantine/core';
import { useState } from 'react';
import { usePages } from '../../client/use-pages.ts';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { formatCount, formatTime } from '../../components/format.ts';
import { Pager } from '../../components/pager.tsx';
import { Panel } from '../../components/panel.tsx';
import { WideTable } from '../../components/wide-table.tsx';
import type { UsageRow } from './usage-wire.ts';

const COLORS = { completed: 'green', cancelled: 'gray', failed: 'red' } as const;

/**
 * The most recent requests, newest first.
 * @param props.endpoints endpoint labels for the filter.
 */
export function RequestTable({ endpoints }: { readonly endpoints: readonly string[] }) {
  const [endpoint, setEndpoint] = useState<string | null>(null);
  const pages = usePages<UsageRow>('v1/usage', { limit: 20, endpoint: endpoint ?? undefined });
  const { page: rows, error, reload } = pages;
  const choose = (chosen: string | null) => {
    setEndpoint(chosen);
    pages.newest();
  };
  return (
    <Panel
      title="Recent requests"
      actions={
        <Select
          aria-label="Endpoint"
          placeholder="All endpoints"
          data={
            endpoints.includes(endpoint ?? '') || endpoint === null
              ? [...endpoints]
              : [...endpoints, endpoint]
          }
          value={endpoint}
          onChange={choose}
          clearable
          clearButtonProps={{ 'aria-label': 'Show all endpoints' }}
          w={260}
        />
      }
    >
      <ErrorAlert error={error} onRetry={reload} />
      {rows?.data.length === 0 && <Empty text="No requests yet." />}
      {rows !== undefined && rows.data.length > 0 && (
        <WideTable label="Requests" minWidth={940}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Time</Table.Th>
                <Table.Th>Endpoint</Table.Th>
                <Table.Th>Model</Table.Th>
                <Table.Th>Status</Table.Th>
                <Table.Th ta="right">Input, output tokens</Table.Th>
                <Table.Th ta="right">Characters</Table.Th>
                <Table.Th ta="right">Audio</Table.Th>
                <Table.Th>Request ID</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.data.map((row) => (
                <Table.Tr key={row.id}>
                  <Table.Td>{formatTime(row.created_at)}</Table.Td>
                  <Table.Td>{row.endpoint}</Table.Td>
                  <Table.Td>{row.model}</Table.Td>
                  <Table.Td>
                    <Badge color={COLORS[row.status]} variant="light">
                      {row.status}
                    </Badge>
                  </Table.Td>
                  <Table.Td ta="right">
                    {formatCount(row.input_tokens)}, {formatCount(row.output_tokens)}
                  </Table.Td>
                  <Table.Td ta="right">
                    {row.characters === undefined ? '' : formatCount(row.characters)}
                  </Table.Td>
                  <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
                    {row.audio_seconds === undefined ? '' : `${row.audio_seconds.toFixed(1)} s`}
                  </Table.Td>
                  <Table.Td>
                    <Code title={row.request_id}>{row.request_id.slice(0, 12)}…</Code>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )}
      <Pager pages={pages} />
    </Panel>
  );
}
