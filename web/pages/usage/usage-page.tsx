import { Group, SegmentedControl, Select, SimpleGrid, Table, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { Figure } from '../../components/figure.tsx';
import { formatCount, formatCredits, formatSeconds } from '../../components/format.ts';
import { Page } from '../../components/page.tsx';
import { Panel } from '../../components/panel.tsx';
import { WideTable } from '../../components/wide-table.tsx';
import { RequestTable } from './request-table.tsx';
import { UsageBars } from './usage-bars.tsx';
import { chartOf, MEASURES, type Measure, type Split, totalsOf, type UsageTotal } from './usage-sums.ts';
import type { Credits, UsageSummary } from './usage-wire.ts';

/** Usage of the organization: credits, daily sums and recent requests. */
export default function UsagePage() {
  const { client } = useSession();
  const [days, setDays] = useState('30');
  const credits = useLoad((signal) => client.get<Credits>('v1/credits', { signal }), [client]);
  const summary = useLoad(
    (signal) => client.get<UsageSummary>('v1/usage/summary', { signal, query: { days } }),
    [client, days],
  );
  const totals = useMemo(() => totalsOf(summary.value?.data ?? []), [summary.value]);
  const sum = (measure: Measure) => totals.reduce((total, row) => total + row[measure], 0);

  return (
    <Page
      title="Usage"
      text="Usage of your organization by day (UTC), and remaining credits."
      actions={
        <SegmentedControl
          aria-label="Days"
          value={days}
          onChange={setDays}
          data={['7', '30', '90'].map((value) => ({ value, label: `${value} days` }))}
        />
      }
    >
      <ErrorAlert error={credits.error} onRetry={credits.reload} />
      <ErrorAlert error={summary.error} onRetry={summary.reload} />
      <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }}>
        <Figure name="Credits remaining">{creditsLeft(credits.value)}</Figure>
        <Figure name="Reserved for running requests">
          {credits.value === undefined ? '–' : formatCredits(credits.value.reserved)}
        </Figure>
        <Figure name="Requests">{formatCount(sum('requests'))}</Figure>
        <Figure name="Failed">{formatCount(sum('failed'))}</Figure>
        <Figure name="Audio">{formatSeconds(sum('audio_seconds'))}</Figure>
        <Figure name="Charged">{formatCredits(sum('credits'))}</Figure>
      </SimpleGrid>
      {summary.value !== undefined && <Chart summary={summary.value} />}
      {totals.length > 0 && (
        <Panel title="By endpoint and model">
          <Totals totals={totals} />
        </Panel>
      )}
      <RequestTable endpoints={[...new Set(totals.map(({ endpoint }) => endpoint))].sort()} />
    </Page>
  );
}

/** The balance, or a note that requests are free of charge. */
function creditsLeft(credits: Credits | undefined): string {
  if (credits === undefined) return '–';
  return credits.free && credits.balance === 0 ? 'not required' : formatCredits(credits.balance);
}

function Chart({ summary }: { readonly summary: UsageSummary }) {
  const [measure, setMeasure] = useState<Measure>('requests');
  const [split, setSplit] = useState<Split>('endpoint');
  const chart = useMemo(() => chartOf(summary, measure, split), [summary, measure, split]);
  const label = MEASURES.find(({ value }) => value === measure)?.label ?? measure;
  return (
    <Panel
      title="Daily usage"
      actions={
        <Group gap="xs">
          <Select
            aria-label="Metric"
            data={MEASURES}
            value={measure}
            onChange={(value) => value !== null && setMeasure(value)}
            allowDeselect={false}
            w={170}
          />
          <SegmentedControl
            aria-label="Group by"
            value={split}
            onChange={(value) => setSplit(value as Split)}
            data={[
              { value: 'endpoint', label: 'Endpoint' },
              { value: 'model', label: 'Model' },
            ]}
          />
        </Group>
      }
    >
      {chart.series.length === 0 ? (
        <Empty text="No usage in this period." />
      ) : (
        <UsageBars chart={chart} split={split} label={`${label} by day and ${split}`} />
      )}
    </Panel>
  );
}

function Totals({ totals }: { readonly totals: readonly UsageTotal[] }) {
  return (
    <WideTable label="Totals" minWidth={940}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Endpoint</Table.Th>
            <Table.Th>Model</Table.Th>
            {MEASURES.map(({ value, label }) => (
              <Table.Th key={value} ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {totals.map((row) => (
            <Table.Tr key={`${row.endpoint} ${row.model}`}>
              <Table.Td>
                <Text size="sm">{row.endpoint}</Text>
              </Table.Td>
              <Table.Td>{row.model}</Table.Td>
              {MEASURES.map(({ value }) => (
                <Table.Td key={value} ta="right">
                  {formatMeasure(value, row[value])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function formatMeasure(measure: Measure, value: number): string {
  if (measure === 'credits') return formatCredits(value);
  return measure === 'audio_seconds' ? value.toFixed(1) : formatCount(value);
}
