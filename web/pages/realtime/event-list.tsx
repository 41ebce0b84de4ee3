import { Button, Group, SegmentedControl, Text, TextInput } from '@mantine/core';
import { memo, useMemo, useState } from 'react';
import { Empty } from '../../components/feedback/empty.tsx';
import { formatCount } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { saveFile } from '../../components/save-file.ts';
import { type EventLog, type LogFilter, type LogRow, rowsOf, shownFrame } from './event-log.ts';
import classes from './realtime.module.css';

const MAX_ROWS = 300;
const DIRECTIONS = [
  { value: 'both', label: 'Both' },
  { value: 'client', label: 'Sent' },
  { value: 'server', label: 'Received' },
];

/** Events of a connection: filter, inspect and download. */
export function EventList({ log, version }: { readonly log: EventLog; readonly version: number }) {
  const [filter, setFilter] = useState<LogFilter>({ from: 'both', type: '' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` changes with the contents of the log
  const rows = useMemo(() => rowsOf(log.entries, filter, MAX_ROWS), [log, version, filter]);
  return (
    <>
      <Group gap="sm" align="flex-end">
        <SegmentedControl
          size="xs"
          aria-label="Direction"
          data={DIRECTIONS}
          value={filter.from}
          onChange={(from) => setFilter({ ...filter, from: from as LogFilter['from'] })}
        />
        <TextInput
          size="xs"
          aria-label="Event type"
          placeholder="Event type, such as transcription"
          value={filter.type}
          onChange={({ currentTarget }) => setFilter({ ...filter, type: currentTarget.value })}
          flex="1 1 12rem"
        />
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          disabled={log.entries.length === 0}
          onClick={() =>
            saveFile(new Blob([log.lines()], { type: 'application/jsonl' }), 'realtime-trace.jsonl')
          }
        >
          Download trace
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        {formatCount(log.entries.length)} events, without audio.{' '}
        {log.droppedCount > 0 &&
          `The log is full; ${formatCount(log.droppedCount)} later events were dropped. `}
        Check the trace with the trace-check command.
      </Text>
      {rows.length === 0 ? (
        <Empty text={log.entries.length === 0 ? 'No events yet.' : 'No matching events.'} />
      ) : (
        // A scrollable region must be focusable (WCAG 2.1.1).
        // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
        <ol className={classes.events} aria-label="Events" tabIndex={0}>
          {rows.toReversed().map((row) => (
            <EventRow key={row.at} row={row} />
          ))}
        </ol>
      )}
    </>
  );
}

/** Memoized: each event recreates the rows, and only changed rows render. */
const EventRow = memo(
  ({ row: { first, last, times } }: { readonly row: LogRow }) => {
    const { from, frame } = last;
    const isError = frame.type === 'error';
    const message = (frame as { error?: { message?: string } }).error?.message;
    return (
      <li className={classes.event} data-from={from}>
        <span className={classes.at}>{(first.at_ms / 1000).toFixed(3)}</span>
        <span role="img" aria-label={from === 'client' ? 'sent' : 'received'}>
          {from === 'client' ? '→' : '←'}
        </span>
        <details>
          <summary data-error={isError}>
            {isError ? `error: ${message}` : frame.type}
            {times > 1 && ` × ${times}`}
          </summary>
          <pre>{shownFrame(last)}</pre>
        </details>
      </li>
    );
  },
  (before, { row }) => before.row.times === row.times && before.row.last === row.last,
);
