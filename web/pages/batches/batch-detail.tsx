import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { CopyAction } from '../../components/code-block.tsx';
import { Confirm } from '../../components/feedback/confirm.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { Figure } from '../../components/figure.tsx';
import { formatCount, formatSeconds, formatTime } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { WideTable } from '../../components/wide-table.tsx';
import { canCancel, isFinal, statusPresentation, timeline } from './batch-view.ts';
import type { Batch, BatchError } from './batch-wire.ts';
import { LinesProgress } from './lines-progress.tsx';
import { ResultLines } from './result-lines.tsx';
import { StatusBadge } from './status-badge.tsx';

const RUNNING_INTERVAL_MS = 1000;

/** One batch, polled until it is finished. */
export function BatchDetail({ id }: { readonly id: string }) {
  const { client } = useSession();
  const [isCancelling, setCancelling] = useState(false);
  const path = `v1/batches/${encodeURIComponent(id)}`;
  const {
    value: batch,
    error,
    reload,
  } = useLoad((signal) => client.get<Batch>(path, { signal }), [client, path], {
    dynamicIntervalMs: (value) => (value !== undefined && !isFinal(value) ? RUNNING_INTERVAL_MS : undefined),
  });
  const cancel = async () => {
    await client.post(`${path}/cancel`);
    reload();
  };
  if (batch === undefined) return <ErrorAlert error={error} onRetry={reload} />;
  return (
    <>
      <Panel
        title="Batch"
        actions={
          canCancel(batch) && (
            <Button variant="default" onClick={() => setCancelling(true)}>
              Cancel
            </Button>
          )
        }
      >
        <ErrorAlert error={error} onRetry={reload} />
        <Group gap="xs" wrap="nowrap">
          <Text ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
            {batch.id}
          </Text>
          <CopyAction text={batch.id} label="Copy ID" />
        </Group>
        <Group gap="sm" role="status">
          <StatusBadge status={batch.status} />
          <Text size="sm" c="dimmed">
            {batch.status_detail ?? statusPresentation(batch.status).meaning}
          </Text>
        </Group>
        {batch.request_counts.total > 0 && <LinesProgress batch={batch} size="lg" />}
        <Figures batch={batch} />
        <Timeline batch={batch} />
        {batch.metadata !== null && <Metadata metadata={batch.metadata} />}
      </Panel>
      {batch.errors !== null && <Faults fieldErrors={batch.errors.data} />}
      {batch.output_file_id !== null && (
        <ResultLines title="Results" file={batch.output_file_id} name={`${batch.id}_output.jsonl`} />
      )}
      {batch.error_file_id !== null && (
        <ResultLines title="Errors" file={batch.error_file_id} name={`${batch.id}_error.jsonl`} />
      )}
      {isCancelling && (
        <Confirm
          title="Cancel this batch?"
          text="Completed lines keep their results. The remaining lines are not run and are listed as errors."
          action="Cancel batch"
          onConfirm={cancel}
          onClose={() => setCancelling(false)}
        />
      )}
    </>
  );
}

function Figures({ batch }: { readonly batch: Batch }) {
  const { total, completed, failed } = batch.request_counts;
  return (
    <Group gap="xl" align="flex-start">
      <Figure name="Lines">{formatCount(total)}</Figure>
      <Figure name="Completed">{formatCount(completed)}</Figure>
      <Figure name="Failed">{formatCount(failed)}</Figure>
      <Figure name="Input tokens">{formatCount(batch.usage?.input_tokens ?? 0)}</Figure>
      <Figure name="Output tokens">{formatCount(batch.usage?.output_tokens ?? 0)}</Figure>
      <div>
        <Text size="xs" c="dimmed">
          Endpoint
        </Text>
        <Text size="sm">{batch.endpoint}</Text>
        {batch.model !== null && <Text size="sm">{batch.model}</Text>}
      </div>
    </Group>
  );
}

function Timeline({ batch }: { readonly batch: Batch }) {
  return (
    <Stack gap={2}>
      {timeline(batch).map(({ label, at }) => (
        <Text key={label} size="sm">
          {label}{' '}
          <Text span c="dimmed">
            {formatTime(at)}
            {at > batch.created_at && `, after ${passed(at - batch.created_at)}`}
          </Text>
        </Text>
      ))}
    </Stack>
  );
}

/** Formats a duration given in whole seconds. */
function passed(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : formatSeconds(seconds);
}

function Metadata({ metadata }: { readonly metadata: Readonly<Record<string, string>> }) {
  return (
    <Stack gap={2}>
      {Object.entries(metadata).map(([name, value]) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}:{' '}
          <Text span c="dimmed">
            {value}
          </Text>
        </Text>
      ))}
    </Stack>
  );
}

/** Validation errors of the input, one row per line. */
function Faults({ fieldErrors }: { readonly fieldErrors: readonly BatchError[] }) {
  return (
    <Panel title="Validation errors">
      <WideTable label="Validation errors" minWidth={480}>
        <Table verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={70}>Line</Table.Th>
              <Table.Th>Code</Table.Th>
              <Table.Th>Field</Table.Th>
              <Table.Th>Message</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fieldErrors.map(({ line, code, param, message }) => (
              <Table.Tr key={`${line} ${code} ${param}`}>
                <Table.Td>{line === null ? 'file' : formatCount(line)}</Table.Td>
                <Table.Td ff="monospace">{code}</Table.Td>
                <Table.Td ff="monospace">{param}</Table.Td>
                <Table.Td>{message}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </Panel>
  );
}
