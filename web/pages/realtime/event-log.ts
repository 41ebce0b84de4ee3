/** Log of the frames of a connection, for display and as a trace (docs/guide/realtime-traces.md). */

import type { Frame } from '../../client/realtime-socket.ts';

export type Side = 'client' | 'server';

/** One line of a trace. */
export interface LogEntry {
  readonly from: Side;
  readonly frame: Frame;
  /** Number of base64 characters that were removed from the frame. */
  readonly elided_characters?: number;
  /** Time since the connection was requested, in ms. */
  readonly at_ms: number;
}

/** Maximum number of frames. */
export const MAX_ENTRIES = 20_000;

/** Field that carries audio, by event type. */
const AUDIO: Readonly<Record<string, string>> = {
  'input_audio_buffer.append': 'audio',
  'response.audio.delta': 'delta',
};

/** Placeholder for audio: 1.5 samples, so that trace-check sees that the frame had audio. */
const AUDIO_PLACEHOLDER = 'AAAA';

export class EventLog {
  #entries: LogEntry[] = [];
  #droppedCount = 0;
  /** Increases with every change. */
  version = 0;

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  /** Number of frames that were dropped because the log is full. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  add(from: Side, frame: Frame, atMs: number): void {
    this.version += 1;
    if (this.#entries.length === MAX_ENTRIES) this.#droppedCount += 1;
    else this.#entries.push({ from, ...withoutAudio(frame), at_ms: Math.round(atMs) });
  }

  /** Serializes the trace, one entry per line. */
  lines(): string {
    return this.#entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  }
}

function withoutAudio(frame: Frame): Pick<LogEntry, 'frame' | 'elided_characters'> {
  const field = AUDIO[frame.type];
  const audio = field === undefined ? undefined : frame[field];
  if (field === undefined || typeof audio !== 'string') return { frame };
  return { frame: { ...frame, [field]: AUDIO_PLACEHOLDER }, elided_characters: audio.length };
}

/** Formats a frame for display. */
export function shownFrame({ frame, elided_characters }: LogEntry): string {
  const field = AUDIO[frame.type];
  if (field === undefined || elided_characters === undefined) return JSON.stringify(frame, undefined, 2);
  const note = `(${elided_characters} characters of base64)`;
  return JSON.stringify({ ...frame, [field]: note }, undefined, 2);
}

/** Filter of the event list. */
export interface LogFilter {
  readonly from: Side | 'both';
  /** Case-insensitive substring of the type. */
  readonly type: string;
}

/** Consecutive frames with the same direction and type. */
export interface LogRow {
  /** Index of the first frame in the log. */
  readonly at: number;
  readonly times: number;
  readonly first: LogEntry;
  readonly last: LogEntry;
}

/** Returns the newest rows of a log in order. Each error has its own row. */
export function rowsOf(entries: readonly LogEntry[], filter: LogFilter, maxRows: number): readonly LogRow[] {
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
      if (rows.length === maxRows) break;
      rows.push({ at, times: 1, first: entry, last: entry });
    }
  }
  return rows.reverse();
}

function isSameKind(one: LogEntry, other: LogEntry): boolean {
  return one.from === other.from && one.frame.type === other.frame.type && one.frame.type !== 'error';
}
