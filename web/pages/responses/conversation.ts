/** The turns of the playground. Each turn is a response that continues the previous one. Pure. */

import { folded, NOTHING_YET, type ResponseView, viewOf } from './response-fold.ts';
import type { RequestBody } from './response-form.ts';
import type { CallItem, InputItem, ResponseBody, StreamEvent } from './response-wire.ts';
import type { StoredResponse } from './stored-chain.ts';

/** Maximum number of retained events per turn; the oldest are dropped. */
export const KEPT_EVENTS = 2000;

export interface Turn {
  readonly key: number;
  /** The input as displayed. */
  readonly asked: readonly InputItem[];
  /** The request body; absent for a response that was opened by its id. */
  readonly body: RequestBody | undefined;
  readonly state: 'running' | 'ended' | 'refused' | 'stopped' | 'deleted';
  readonly view: ResponseView;
  readonly events: readonly StreamEvent[];
  /** Times in ms of one clock: request sent, first event or response received, finished. */
  readonly times: { readonly sentMs: number; readonly firstMs?: number; readonly endedMs?: number };
}

export type Conversation = readonly Turn[];

export type ConversationAct =
  | {
      readonly kind: 'asked';
      readonly key: number;
      readonly asked: readonly InputItem[];
      readonly body: RequestBody;
      readonly atMs: number;
    }
  | { readonly kind: 'told'; readonly key: number; readonly event: StreamEvent; readonly atMs: number }
  | {
      readonly kind: 'answered';
      readonly key: number;
      readonly response: ResponseBody;
      readonly atMs: number;
    }
  /** The stream ended. */
  | { readonly kind: 'ended'; readonly key: number; readonly atMs: number }
  /**
   * The request failed before its first event: the turn is removed, and the form keeps the input and shows
   * the error.
   */
  | { readonly kind: 'refused'; readonly key: number; readonly message: string; readonly atMs: number }
  | { readonly kind: 'stopped'; readonly key: number; readonly atMs: number }
  | { readonly kind: 'deleted'; readonly key: number }
  /** Removes this turn and all later ones. */
  | { readonly kind: 'cut'; readonly key: number }
  | { readonly kind: 'opened'; readonly turns: readonly StoredTurn[] };

export interface StoredTurn extends StoredResponse {
  readonly key: number;
}

export function conversed(turns: Conversation, act: ConversationAct): Conversation {
  switch (act.kind) {
    case 'asked':
      return [...turns, newTurn(act)];
    case 'told':
      return changed(turns, act.key, (turn) => withEvent(turn, act));
    case 'answered':
      return changed(turns, act.key, (turn) => ({
        ...turn,
        state: 'ended',
        view: viewOf(act.response),
        times: { ...turn.times, firstMs: act.atMs, endedMs: act.atMs },
      }));
    case 'ended':
      return changed(turns, act.key, (turn) => ended(turn, 'ended', act.atMs));
    case 'stopped':
      return brokenOff(turns, act.key, (turn) => ended(turn, 'stopped', act.atMs));
    case 'refused':
      return brokenOff(turns, act.key, (turn) => ({
        ...ended(turn, 'refused', act.atMs),
        view: { ...turn.view, problem: act.message },
      }));
    case 'deleted':
      return changed(turns, act.key, (turn) => ({ ...turn, state: 'deleted' }));
    case 'cut': {
      const from = turns.findIndex(({ key }) => key === act.key);
      return from === -1 ? turns : turns.slice(0, from);
    }
    case 'opened':
      return act.turns.map(openedTurn);
  }
}

/** Id of the response that the next turn continues; undefined if there is none, or if it is not stored. */
export function continuedId(turns: Conversation): string | undefined {
  if (turns.some(({ state }) => state === 'deleted')) return undefined;
  const last = turns.at(-1);
  return last?.view.stored ? last.view.id : undefined;
}

/** Function calls of the last turn without a result. */
export function openCalls(turns: Conversation): readonly CallItem[] {
  const last = turns.at(-1);
  if (last === undefined || last.state === 'running' || last.state === 'deleted') return [];
  return last.view.output.filter((item) => item.type === 'function_call');
}

/** Input of the next turn: function results, then the text. A text alone is sent as a string. */
export function inputOf(
  text: string,
  results: readonly { readonly callId: string; readonly output: string }[],
): string | readonly InputItem[] {
  if (results.length === 0) return text;
  const outputs = results.map(({ callId, output }) => ({
    type: 'function_call_output' as const,
    call_id: callId,
    output,
  }));
  return text === '' ? outputs : [...outputs, { role: 'user' as const, content: text }];
}

/** Converts an input to items for display. */
export function itemsOf(input: string | readonly InputItem[]): readonly InputItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

function newTurn({ key, asked, body, atMs }: Extract<ConversationAct, { kind: 'asked' }>): Turn {
  return { key, asked, body, state: 'running', view: NOTHING_YET, events: [], times: { sentMs: atMs } };
}

function openedTurn({ key, asked, response }: StoredTurn): Turn {
  const view = viewOf(response);
  return { key, asked, body: undefined, state: 'ended', view, events: [], times: { sentMs: 0 } };
}

function withEvent(turn: Turn, { event, atMs }: Extract<ConversationAct, { kind: 'told' }>): Turn {
  return {
    ...turn,
    view: folded(turn.view, event),
    events: [...turn.events, event].slice(-KEPT_EVENTS),
    times: { ...turn.times, firstMs: turn.times.firstMs ?? atMs },
  };
}

/** Finishes a turn; only the first call has an effect. */
function ended(turn: Turn, state: Turn['state'], atMs: number): Turn {
  return turn.state === 'running' ? { ...turn, state, times: { ...turn.times, endedMs: atMs } } : turn;
}

/** Changes a turn that received an event; removes one that did not. */
function brokenOff(turns: Conversation, key: number, change: (turn: Turn) => Turn): Conversation {
  return changed(
    turns.filter((turn) => turn.key !== key || turn.view.id !== undefined),
    key,
    change,
  );
}

function changed(turns: Conversation, key: number, change: (turn: Turn) => Turn): Conversation {
  return turns.map((turn) => (turn.key === key ? change(turn) : turn));
}
