/** State of a conversation on the page, and its status in words. */

import type { FinishedTurn } from '../../../audio/input/push-to-talk.ts';
import { type Entry, findEntry } from './transcript.ts';
import type { TurnTiming } from './turn-timing.ts';
import type { SessionDefaults } from './wire.ts';

/** A response in progress. */
export interface ActiveResponse {
  readonly id: string;
  /** Id of the turn that it answers. */
  readonly turnId: string | undefined;
  /** Cancelled by the page; what still arrives is ignored. */
  readonly isCancelled: boolean;
}

export interface SessionState {
  /** `loading`: the service loads or downloads a model first; `ended` is final. */
  readonly phase: 'connecting' | 'loading' | 'ready' | 'ended';
  /** Progress of the load, or why the session ended; for the user. */
  readonly message: string | undefined;
  readonly defaults: SessionDefaults | undefined;
  readonly entries: readonly Entry[];
  /** The last turns, oldest first. */
  readonly turns: readonly TurnTiming[];
  /** Item in which speech is detected. */
  readonly speakingId: string | undefined;
  readonly isButtonDown: boolean;
  /** Push-to-talk turns that have no item yet. */
  readonly released: readonly FinishedTurn[];
  /** Items whose transcript is pending. */
  readonly transcribing: readonly string[];
  /** Number of events with an id that the page has sent. */
  readonly sentIds: number;
  /** Id of the event that requested a response, until it is created. */
  readonly request: string | undefined;
  readonly response: ActiveResponse | undefined;
  /** Whether function outputs wait for the end of the response to be answered. */
  readonly owesResponse: boolean;
  readonly isPlaying: boolean;
  /** Whether the assistant has spoken: its voice is then fixed. */
  readonly hasSpoken: boolean;
  /** The last error, until the next turn. */
  readonly error: string | undefined;
}

export const INITIAL_STATE: SessionState = {
  phase: 'connecting',
  message: undefined,
  defaults: undefined,
  entries: [],
  turns: [],
  speakingId: undefined,
  isButtonDown: false,
  released: [],
  transcribing: [],
  sentIds: 0,
  request: undefined,
  response: undefined,
  owesResponse: false,
  isPlaying: false,
  hasSpoken: false,
  error: undefined,
};

/** What the conversation is doing. */
export type Activity =
  | 'connecting'
  | 'loading'
  | 'waiting'
  | 'hearing'
  | 'thinking'
  | 'speaking'
  | 'needs_output'
  | 'ended';

/** `waiting`: for the user; `needs_output`: for the output of a function from the user. */
export function activityOf(state: SessionState): Activity {
  const { phase, speakingId, isButtonDown, isPlaying, response, request, transcribing, entries } = state;
  if (phase !== 'ready') return phase;
  if (isButtonDown || speakingId !== undefined) return 'hearing';
  if (isPlaying) return 'speaking';
  if (response !== undefined || request !== undefined || transcribing.length > 0) return 'thinking';
  const openCalls = entries.filter((entry) => entry.kind === 'tool' && entry.output === undefined);
  if (openCalls.length === 0) return 'waiting';
  return openCalls.some((entry) => entry.kind === 'tool' && entry.isAutomatic) ? 'thinking' : 'needs_output';
}

/** Whether there is something to stop: a response, or its playback. */
export function isAnswering({ phase, response, request, isPlaying }: SessionState): boolean {
  return phase === 'ready' && (isPlaying || request !== undefined || response?.isCancelled === false);
}

/** The user's words that a turn answers. */
export function wordsOfTurn({ entries }: SessionState, { id }: TurnTiming): string {
  return findEntry(entries, 'user', id)?.text ?? '';
}
