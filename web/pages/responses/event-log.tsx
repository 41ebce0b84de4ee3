import { Button, Code, Group, ScrollArea, Table, Text } from '@mantine/core';
import { saveFile } from '../../parts/save-file.ts';
import type { StreamEvent } from './response-wire.ts';

/** Most events that are drawn; the file has all that are kept. */
const SHOWN_EVENTS = 300;

/** The events of a stream as they came. */
export function EventLog({ events }: { readonly events: readonly StreamEvent[] }) {
  const shown = events.slice(-SHOWN_EVENTS);
  const save = () => {
    const lines = events.map((event) => `${JSON.stringify(event)}\n`);
    saveFile(new Blob(lines, { type: 'application/jsonl' }), 'response-events.jsonl');
  };
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Text size="xs" c="dimmed">
          {shown.length < events.length
            ? `The last ${shown.length} of ${events.length} events.`
            : `${events.length} events.`}
        </Text>
        <Button variant="default" size="compact-sm" onClick={save}>
          Download
        </Button>
      </Group>
      <ScrollArea.Autosize
        mah="24rem"
        viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Events' }}
      >
        <Table verticalSpacing={4} layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={48}>No.</Table.Th>
              <Table.Th>Event</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((event) => (
              <Table.Tr key={event.sequence_number} style={{ verticalAlign: 'top' }}>
                <Table.Td>{event.sequence_number}</Table.Td>
                <Table.Td>
                  <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                    {event.type}
                  </Text>
                  <Code style={{ overflowWrap: 'anywhere' }}>{restOf(event)}</Code>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </>
  );
}

/** What an event says beside its name and number. */
function restOf({ type: _, sequence_number: __, ...rest }: StreamEvent): string {
  return JSON.stringify(rest);
}
