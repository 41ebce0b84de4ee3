import { check, initial, parseTraceLine, type State } from '../tools/trace-check/check.ts';
import { serverEventFault } from '../tools/trace-check/frame-schema.ts';

const USAGE = `Usage: bun run trace-check <file | ->
  Judges a trace of realtime frames, one JSON entry a line, by the order rules and the schemas of the events.
  See docs/guide/realtime-traces.md. Exit code 0 when nothing is wrong, 1 when something is, 2 for wrong usage.`;

/** Longest line: an append that fills the buffer has 35 MB. */
const MAX_LINE_CHARACTERS = 64 * 1024 * 1024;
/** Faults that are printed; the rest is counted. */
const MOST_SHOWN = 100;

/** The lines of a stream of UTF-8, without their ends. */
async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  /** The beginning of a line; only what is new is looked through. */
  let begun = '';
  for await (const chunk of stream) {
    const [end = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n');
    begun += end;
    for (const next of lines) {
      yield begun;
      begun = next;
    }
    if (begun.length > MAX_LINE_CHARACTERS) {
      throw new RangeError(`a line has more than ${MAX_LINE_CHARACTERS} characters`);
    }
  }
  begun += decoder.decode();
  if (begun !== '') yield begun;
}

/** What of a trace has been judged so far. */
class Judge {
  readonly #states = new Map<string, State>();
  readonly #fault: (text: string) => void;
  frames = 0;
  connections = 0;

  constructor(fault: (text: string) => void) {
    this.#fault = fault;
  }

  line(text: string): void {
    let entry: ReturnType<typeof parseTraceLine>;
    try {
      entry = parseTraceLine(text);
    } catch (error) {
      this.#fault(`no trace entry: ${error instanceof Error ? error.message : error}`);
      return;
    }
    const connection = entry.connection ?? '';
    if (!this.#states.has(connection)) this.connections += 1;
    const { state, violations } = check(this.#states.get(connection) ?? initial, entry);
    for (const { rule, section, message } of violations) this.#fault(`${rule} (${section}): ${message}`);
    // A name may be used again once its connection is over.
    if ('end' in entry) {
      this.#states.delete(connection);
      return;
    }
    this.#states.set(connection, state);
    this.frames += 1;
    if (entry.from === 'client') return;
    const faults = (state.dialect === undefined ? (['spec', 'ga'] as const) : [state.dialect]).map(
      (dialect) => serverEventFault(entry.frame, dialect),
    );
    if (faults.every((fault) => fault !== undefined)) this.#fault(`schema (wire 8.5): ${faults[0]}`);
  }
}

/** @returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const [path] = args;
  if (path === undefined || args.length > 1 || (path.startsWith('-') && path !== '-')) {
    console.error(USAGE);
    return 2;
  }
  const name = path === '-' ? 'stdin' : path;
  let line = 0;
  let faults = 0;
  const judge = new Judge((text) => {
    faults += 1;
    if (faults <= MOST_SHOWN) console.log(`${name}:${line}: ${text}`);
  });
  try {
    for await (const text of linesOf(path === '-' ? Bun.stdin.stream() : Bun.file(path).stream())) {
      line += 1;
      if (text.trim() !== '') judge.line(text);
    }
  } catch (error) {
    console.error(`${name}:${line + 1}: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
  if (faults > MOST_SHOWN) console.log(`and ${faults - MOST_SHOWN} more`);
  const what = `${judge.frames} frames of ${judge.connections} connections`;
  console.log(
    faults === 0
      ? `${what}: every rule is kept`
      : `${what}: ${faults === 1 ? '1 fault' : `${faults} faults`}`,
  );
  return faults === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
