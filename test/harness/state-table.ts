import { readFileSync } from 'node:fs';

/** What happens in each state (row) with each event (column). */
export type StateTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * The table of a page in docs/states: its first row names the events, its first column the states.
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

/** The table that a machine has: the result of `cell` for every state and every event. */
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
