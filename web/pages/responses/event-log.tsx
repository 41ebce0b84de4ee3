import { Button, Code, Group, ScrollArea, Text } from '@mantine/core';
import { saveFile } from '../../components/save-file.ts';
import type { StreamEvent } from './response-wire.ts';
import classes from './responses.module.css';

/** Maximum number of rendered events; the download has all retained ones. */
const MAX_SHOWN_EVENTS = 300;

/** Stream events by type and delta; each expands to its full JSON. */
export function EventLog({ events }: { readonly events: readonly StreamEvent[] }) {
  const shown = events.slice(-MAX_SHOWN_EVENTS);
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
        <ol className={classes.events}>
          {shown.map((event) => (
            <li key={event.sequence_number} value={event.sequence_number}>
              <details>
                <summary>
                  {event.type} <span className={classes.delta}>{deltaOf(event)}</span>
                </summary>
                <Code block className={classes.event}>
                  {JSON.stringify(event, null, 2)}
                </Code>
              </details>
            </li>
          ))}
        </ol>
      </ScrollArea.Autosize>
    </>
  );
}

/** The delta of an event, with visible white space. */
function deltaOf({ delta }: StreamEvent): string {
  return typeof delta === 'string' ? JSON.stringify(delta) : '';
}
