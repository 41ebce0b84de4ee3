/**
 * A trace: all frames of realtime connections as one side recorded them, one entry per line (docs/guide/realtime-traces.md).
 * Field names are in snake case, because the entries are written to files.
 */

/** A frame, in the order in which it was sent or received. */
export interface FrameEntry {
  /** Identifies the connection; absent in a file with one connection. */
  readonly connection?: string;
  /** Milliseconds since any fixed time; for readers, not used by the rules. */
  readonly at_ms?: number;
  readonly from: 'client' | 'server';
  /** The parsed JSON; a text that is not JSON as a string, a binary frame as `{binary: lengthBytes}`. */
  readonly frame: unknown;
}

/**
 * The end of a connection. `quiet`: the recorder waited for all requested events, so a missing event is an error.
 * `cut`: events may be missing.
 */
export interface EndEntry {
  readonly connection?: string;
  readonly at_ms?: number;
  readonly end: 'quiet' | 'cut';
}

export type TraceEntry = FrameEntry | EndEntry;

/** A JSON object with unknown fields. */
export type Fields = { readonly [name: string]: unknown };

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as an object; an empty object for other values. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** The value at a dotted path such as `session.audio.input`, or undefined. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (!isFields(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/** The string at a dotted path, or undefined. */
export function textAt(value: unknown, path: string): string | undefined {
  const found = at(value, path);
  return typeof found === 'string' ? found : undefined;
}

/** Whether a value is a non-negative number. */
export function isCount(value: unknown, is: (value: number) => boolean = Number.isInteger): value is number {
  return typeof value === 'number' && is(value) && value >= 0;
}

/** Deep equality of JSON values, independent of the order of fields. */
export function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, index) => same(value, b[index]));
  }
  if (isFields(a) && isFields(b)) {
    const names = Object.keys(a);
    return (
      names.length === Object.keys(b).length &&
      names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]))
    );
  }
  return Object.is(a, b);
}

/** A value as JSON of at most 80 characters, for messages. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** Parses one line of a trace file. @throws SyntaxError with the reason. */
export function parseTraceLine(line: string): TraceEntry {
  const entry: unknown = JSON.parse(line);
  if (!isFields(entry)) throw new SyntaxError('must be a JSON object');
  const { connection, at_ms, from, end } = entry;
  if (connection !== undefined && typeof connection !== 'string') {
    throw new SyntaxError('`connection` must be a string');
  }
  if (at_ms !== undefined && typeof at_ms !== 'number') throw new SyntaxError('`at_ms` must be a number');
  const head = {
    ...(connection === undefined ? {} : { connection }),
    ...(at_ms === undefined ? {} : { at_ms }),
  };
  if (end === 'quiet' || end === 'cut') return { ...head, end };
  if (end !== undefined) throw new SyntaxError('`end` must be "quiet" or "cut"');
  if (from !== 'client' && from !== 'server') throw new SyntaxError('`from` must be "client" or "server"');
  if (!Object.hasOwn(entry, 'frame')) throw new SyntaxError('`frame` is missing');
  return { ...head, from, frame: entry.frame };
}
