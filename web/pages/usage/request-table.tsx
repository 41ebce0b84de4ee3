import { Badge, Code, Select, Table } from '@mantine/core';
import { useState } from 'react';
import { useList } from '../../client/use-list.ts';
import { Empty } from '../../parts/empty.tsx';
import { FaultNote } from '../../parts/fault-note.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { countWords, timeWords } from '../../parts/words.ts';
import type { UsageRow } from './usage-wire.ts';

/** Labels of the service's usage rows. */
const ENDPOINTS = [
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  'POST /v1/voices/partner',
  'POST /v1/transcribers/partner',
  'POST /v1/chat/completions',
  'POST /v1/embeddings',
  'POST /v1/responses',
  'POST /v1/audio/voices',
  'POST /v1/videos/extensions',
];

const COLORS = { completed: 'green', cancelled: 'gray', failed: 'red' } as const;

/** The last requests, newest first. */
export function RequestTable() {
  const [endpoint, setEndpoint] = useState<string | null>(null);
  const rows = useList<UsageRow>('v1/usage', { limit: 20, endpoint: endpoint ?? undefined });
  return (
    <Panel
      title="Last requests"
      actions={
        <Select
          aria-label="Endpoint"
          placeholder="All endpoints"
          data={ENDPOINTS}
          value={endpoint}
          onChange={setEndpoint}
          clearable
          w={260}
        />
      }
    >
      <FaultNote fault={rows.fault} onRetry={rows.reload} />
      {rows.items?.length === 0 && <Empty text="No requests yet." />}
      {rows.items !== undefined && rows.items.length > 0 && (
        <Table.ScrollContainer minWidth={820}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Time</Table.Th>
                <Table.Th>Endpoint</Table.Th>
                <Table.Th>Model</Table.Th>
                <Table.Th>Status</Table.Th>
                <Table.Th ta="right">Tokens in, out</Table.Th>
                <Table.Th ta="right">Characters</Table.Th>
                <Table.Th ta="right">Audio</Table.Th>
                <Table.Th>Request</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.items.map((row) => (
                <Table.Tr key={row.id}>
                  <Table.Td>{timeWords(row.created_at)}</Table.Td>
                  <Table.Td>{row.endpoint}</Table.Td>
                  <Table.Td>{row.model}</Table.Td>
                  <Table.Td>
                    <Badge color={COLORS[row.status]} variant="light">
                      {row.status}
                    </Badge>
                  </Table.Td>
                  <Table.Td ta="right">
                    {countWords(row.input_tokens)}, {countWords(row.output_tokens)}
                  </Table.Td>
                  <Table.Td ta="right">
                    {row.characters === undefined ? '' : countWords(row.characters)}
                  </Table.Td>
                  <Table.Td ta="right">
                    {row.audio_seconds === undefined ? '' : `${row.audio_seconds.toFixed(1)} s`}
                  </Table.Td>
                  <Table.Td>
                    <Code title={row.request_id}>{row.request_id.slice(0, 12)}…</Code>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <MoreButton list={rows} />
    </Panel>
  );
}
