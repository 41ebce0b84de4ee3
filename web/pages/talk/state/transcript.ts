/** Entries of the transcript, and their changes. Pure. */

import { playedText, type TimedText } from './spoken-words.ts';

/** Something that the user said or typed. */
export interface UserEntry {
  readonly kind: 'user';
  /** Item id. */
  readonly id: string;
  readonly text: string;
  readonly state: 'speaking' | 'transcribing' | 'done' | 'failed';
}

/** A message of the assistant. */
export interface AssistantEntry {
  readonly kind: 'assistant';
  /** Item id. */
  readonly id: string;
  readonly responseId: string;
  readonly pieces: readonly TimedText[];
  /** Received audio in ms. */
  readonly audioMs: number;
  /** Whether all text and audio was received. */
  readonly isComplete: boolean;
  /** Whether it was played to its end. */
  readonly isPlayed: boolean;
  /** Audio that was played before an interruption, in ms; undefined without an interruption. */
  readonly interruptedMs: number | undefined;
}

/** A function call of the assistant. */
export interface ToolEntry {
  readonly kind: 'tool';
  /** Item id. */
  readonly id: string;
  readonly responseId: string;
  readonly callId: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
  /** Undefined while it is expected. */
  readonly output: string | undefined;
  /** Whether the browser runs the function; otherwise the user enters the output. */
  readonly isAutomatic: boolean;
}

/** A response that failed. */
export interface ErrorEntry {
  readonly kind: 'error';
  /** Response id. */
  readonly id: string;
  readonly text: string;
}

export type Entry = UserEntry | AssistantEntry | ToolEntry | ErrorEntry;

/** Maximum number of entries; the oldest are removed. */
const MAX_ENTRIES = 200;

export function addEntry(entries: readonly Entry[], entry: Entry): readonly Entry[] {
  return [...entries, entry].slice(-MAX_ENTRIES);
}

/** Changes the entry of a kind with an id; without such an entry nothing changes. */
export function changeEntry<Kind extends Entry['kind']>(
  entries: readonly Entry[],
  kind: Kind,
  id: string,
  change: (entry: Extract<Entry, { kind: Kind }>) => Extract<Entry, { kind: Kind }>,
): readonly Entry[] {
  return entries.map((entry) =>
    entry.kind === kind && entry.id === id ? change(entry as Extract<Entry, { kind: Kind }>) : entry,
  );
}

export function findEntry<Kind extends Entry['kind']>(
  entries: readonly Entry[],
  kind: Kind,
  id: string,
): Extract<Entry, { kind: Kind }> | undefined {
  return entries.find(
    (entry): entry is Extract<Entry, { kind: Kind }> => entry.kind === kind && entry.id === id,
  );
}

/** The audio of a message that was played before an interruption or completely. */
export function heardMs({ interruptedMs, isPlayed }: AssistantEntry): number | undefined {
  return interruptedMs ?? (isPlayed ? Number.POSITIVE_INFINITY : undefined);
}

/**
 * The words of a message that were played.
 * @param playedMs played audio of the message in ms.
 */
export function shownText({ pieces, audioMs, isComplete }: AssistantEntry, playedMs: number): string {
  return playedText(pieces, { lengthMs: audioMs, isComplete }, playedMs);
}
