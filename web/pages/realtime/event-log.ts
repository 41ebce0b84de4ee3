/** The frames of a connection as the page keeps them: to read, to filter, to keep as a trace (docs/guide/realtime-traces.md). */

export type Side = 'client' | 'server';

/** An event of either side. */
export interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One line of a trace. */
export interface LogEntry {
  readonly from: Side;
  readonly frame: Frame;
  /** Characters of base64 that were left out of the frame. */
  readonly elided_characters?: number;
  /** Since the connection was asked for. */
  readonly at_ms: number;
}

/** Frames that are kept. */
export const MAX_ENTRIES = 20_000;

/** Where events carry audio. */
const AUDIO: Readonly<Record<string, string>> = {
  'input_audio_buffer.append': 'audio',
  'response.audio.delta': 'delta',
};

/** Stands for audio: a sample and a half, so that whoever checks a trace sees that there was some. */
const ELIDED = 'AAAA';

export class EventLog {
  #entries: LogEntry[] = [];
  #left = 0;
  /** Rises with every change. */
  version = 0;

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  /** Frames for which there was no room. */
  get left(): number {
    return this.#left;
  }

  add(from: Side, frame: Frame, atMs: number): void {
    this.version += 1;
    if (this.#entries.length === MAX_ENTRIES) this.#left += 1;
    else this.#entries.push({ from, ...withoutAudio(frame), at_ms: Math.round(atMs) });
  }

  /** The trace: one entry a line. */
  lines(): string {
    return this.#entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  }
}

function withoutAudio(frame: Frame): Pick<LogEntry, 'frame' | 'elided_characters'> {
  const field = AUDIO[frame.type];
  const audio = field === undefined ? undefined : frame[field];
  if (field === undefined || typeof audio !== 'string') return { frame };
  return { frame: { ...frame, [field]: ELIDED }, elided_characters: audio.length };
}

/** A frame as a person reads it. */
export function shownFrame({ frame, elided_characters }: LogEntry): string {
  const field = AUDIO[frame.type];
  if (field === undefined || elided_characters === undefined) return JSON.stringify(frame, undefined, 2);
  const note = `(${elided_characters} characters of base64)`;
  return JSON.stringify({ ...frame, [field]: note }, undefined, 2);
}

/** What of a log is shown. */
export interface LogFilter {
  readonly from: Side | 'both';
  /** Part of the type, in any case. */
  readonly type: string;
}

/** Frames of one side and type that follow each other. */
export interface LogRow {
  /** Place of the first of them in the log. */
  readonly at: number;
  readonly times: number;
  readonly first: LogEntry;
  readonly last: LogEntry;
}

/** The newest rows of a log, in order. Errors have a row each. */
export function rowsOf(entries: readonly LogEntry[], filter: LogFilter, most: number): readonly LogRow[] {
  const wanted = filter.type.trim().toLowerCase();
  const rows: LogRow[] = [];
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const entry = entries[at];
    if (entry === undefined || (filter.from !== 'both' && entry.from !== filter.from)) continue;
    if (!entry.frame.type.toLowerCase().includes(wanted)) continue;
    const row = rows.at(-1);
    if (row !== undefined && isSameKind(row.first, entry)) {
      rows[rows.length - 1] = { ...row, at, times: row.times + 1, first: entry };
    } else {
      if (rows.length === most) break;
      rows.push({ at, times: 1, first: entry, last: entry });
    }
  }
  return rows.reverse();
}

function isSameKind(one: LogEntry, other: LogEntry): boolean {
  return one.from === other.from && one.frame.type === other.frame.type && one.frame.type !== 'error';
}
