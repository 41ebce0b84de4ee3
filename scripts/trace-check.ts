import { check, initial, parseTraceLine, type State } from '../tools/trace-check/check.ts';
import { serverEventError } from '../tools/trace-check/frame-schema.ts';

const USAGE = `Usage: bun run trace-check <file | ->
  Judges a trace of realtime frames, one JSON entry a line, by the order rules and the schemas of the events.
  See docs/guide/realtime-traces.md. Exit code 0 when nothing is wrong, 1 when something is, 2 for wrong usage.`;

/** Maximum line length: an append event that fills the buffer has 35 MB. */
const MAX_LINE_CHARACTERS = 64 * 1024 * 1024;
/** Maximum number of printed violations; the rest is counted. */
const MAX_SHOWN = 100;

/** The lines of a UTF-8 stream without line breaks. */
async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  /** The incomplete line; only new data are searched. */
  let pending = '';
  for await (const chunk of stream) {
    const [end = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n');
    pending += end;
    for (const next of lines) {
      yield pending;
      pending = next;
    }
    if (pending.length > MAX_LINE_CHARACTERS) {
      throw new RangeError(`a line has more than ${MAX_LINE_CHARACTERS} characters`);
    }
  }
  pending += decoder.decode();
  if (pending !== '') yield pending;
}

/** State of a trace check. */
class Judge {
  readonly #states = new Map<string, State>();
  readonly #report: (text: string) => void;
  frames = 0;
  connections = 0;

  constructor(report: (text: string) => void) {
    this.#report = report;
  }

  line(text: string): void {
    let entry: ReturnType<typeof parseTraceLine>;
    try {
      entry = parseTraceLine(text);
    } catch (error) {
      this.#report(`not a trace entry: ${error instanceof Error ? error.message : error}`);
      return;
    }
    const connection = entry.connection ?? '';
    if (!this.#states.has(connection)) this.connections += 1;
    const { state, violations } = check(this.#states.get(connection) ?? initial, entry);
    for (const { rule, section, message } of violations) this.#report(`${rule} (${section}): ${message}`);
    // A name may be reused after its connection has ended.
    if ('end' in entry) {
      this.#states.delete(connection);
      return;
    }
    this.#states.set(connection, state);
    this.frames += 1;
    if (entry.from === 'client') return;
    const errors = (state.dialect === undefined ? (['spec', 'ga'] as const) : [state.dialect]).map(
      (dialect) => serverEventError(entry.frame, dialect),
    );
    const section = state.conversation === undefined ? 'wire 8.5' : 'talk 2.2';
    if (errors.every((error) => error !== undefined)) this.#report(`schema (${section}): ${errors[0]}`);
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
  let errors = 0;
  const judge = new Judge((text) => {
    errors += 1;
    if (errors <= MAX_SHOWN) console.log(`${name}:${line}: ${text}`);
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
  if (errors > MAX_SHOWN) console.log(`and ${errors - MAX_SHOWN} more`);
  const what = `${judge.frames} frames of ${judge.connections} connections`;
  console.log(
    errors === 0
      ? `${what}: no violations`
      : `${what}: ${errors === 1 ? '1 violation' : `${errors} violations`}`,
  );
  return errors === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
