import { readFileSync } from 'node:fs';

/** Effects of a state machine for each state (row) and event (column). */
export type StateTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Reads the table of a page in docs/states. The first row has the events, the first column the states.
 * @param page file name without `.md`.
 */
export function documentedTable(page: string): StateTable {
  const text = readFileSync(new URL(`../../docs/states/${page}.md`, import.meta.url), 'utf8');
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^[|\s-]+$/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const [head = [], ...body] = rows;
  const events = head.slice(1);
  return Object.fromEntries(
    body.map(([state = '', ...cells]) => [
      state,
      Object.fromEntries(events.map((event, at) => [event, cells[at] ?? 'missing'])),
    ]),
  );
}

/** The table of a state machine: the result of `cell` for every state and event. */
export function machineTable<State, Event>(
  states: Readonly<Record<string, State>>,
  events: Readonly<Record<string, Event>>,
  cell: (state: State, event: Event) => string,
): StateTable {
  return Object.fromEntries(
    Object.entries(states).map(([name, state]) => [
      name,
      Object.fromEntries(Object.entries(events).map(([event, each]) => [event, cell(state, each)])),
    ]),
  );
}
