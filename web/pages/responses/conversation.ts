/** The turns of the playground. Each turn is a response that continues the previous one. Pure. */

import { applyEvent, EMPTY_RESPONSE, type ResponseView, viewOf } from './response-fold.ts';
import type { RequestBody } from './response-form.ts';
import type { CallItem, InputItem, ResponseBody, StreamEvent } from './response-wire.ts';
import type { StoredResponse } from './stored-chain.ts';

/** Maximum number of retained events per turn; the oldest are dropped. */
export const MAX_EVENTS = 2000;

export interface Turn {
  readonly key: number;
  /** The input as displayed. */
  readonly input: readonly InputItem[];
  /** The request body; absent for a response that was opened by its id. */
  readonly body: RequestBody | undefined;
  readonly state: 'running' | 'finished' | 'failed' | 'stopped' | 'deleted';
  readonly view: ResponseView;
  readonly events: readonly StreamEvent[];
  /** Times in ms of one clock: request sent, first event or response received, finished. */
  readonly times: { readonly sentMs: number; readonly firstMs?: number; readonly finishedMs?: number };
}

export type Conversation = readonly Turn[];

export type ConversationAction =
  | {
      readonly kind: 'requested';
      readonly key: number;
      readonly input: readonly InputItem[];
      readonly body: RequestBody;
      readonly atMs: number;
    }
  | { readonly kind: 'event'; readonly key: number; readonly event: StreamEvent; readonly atMs: number }
  | {
      readonly kind: 'responded';
      readonly key: number;
      readonly response: ResponseBody;
      readonly atMs: number;
    }
  /** The stream ended. */
  | { readonly kind: 'finished'; readonly key: number; readonly atMs: number }
  /**
   * The request failed before its first event: the turn is removed, and the form keeps the input and shows
   * the error.
   */
  | { readonly kind: 'failed'; readonly key: number; readonly message: string; readonly atMs: number }
  | { readonly kind: 'stopped'; readonly key: number; readonly atMs: number }
  | { readonly kind: 'deleted'; readonly key: number }
  /** Removes this turn and all later ones. */
  | { readonly kind: 'removed'; readonly key: number }
  | { readonly kind: 'opened'; readonly turns: readonly StoredTurn[] };

export interface StoredTurn extends StoredResponse {
  readonly key: number;
}

export function reduceConversation(turns: Conversation, dispatch: ConversationAction): Conversation {
  switch (dispatch.kind) {
    case 'requested':
      return [...turns, newTurn(dispatch)];
    case 'event':
      return changeTurn(turns, dispatch.key, (turn) => withEvent(turn, dispatch));
    case 'responded':
      return changeTurn(turns, dispatch.key, (turn) => ({
        ...turn,
        state: 'finished',
        view: viewOf(dispatch.response),
        times: { ...turn.times, firstMs: dispatch.atMs, finishedMs: dispatch.atMs },
      }));
    case 'finished':
      return changeTurn(turns, dispatch.key, (turn) => finishTurn(turn, 'finished', dispatch.atMs));
    case 'stopped':
      return interruptTurn(turns, dispatch.key, (turn) => finishTurn(turn, 'stopped', dispatch.atMs));
    case 'failed':
      return interruptTurn(turns, dispatch.key, (turn) => ({
        ...finishTurn(turn, 'failed', dispatch.atMs),
        view: { ...turn.view, problem: dispatch.message },
      }));
    case 'deleted':
      return changeTurn(turns, dispatch.key, (turn) => ({ ...turn, state: 'deleted' }));
    case 'removed': {
      const from = turns.findIndex(({ key }) => key === dispatch.key);
      return from === -1 ? turns : turns.slice(0, from);
    }
    case 'opened':
      return dispatch.turns.map(openedTurn);
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

function newTurn({ key, input, body, atMs }: Extract<ConversationAction, { kind: 'requested' }>): Turn {
  return { key, input, body, state: 'running', view: EMPTY_RESPONSE, events: [], times: { sentMs: atMs } };
}

function openedTurn({ key, input, response }: StoredTurn): Turn {
  const view = viewOf(response);
  return { key, input, body: undefined, state: 'finished', view, events: [], times: { sentMs: 0 } };
}

function withEvent(turn: Turn, { event, atMs }: Extract<ConversationAction, { kind: 'event' }>): Turn {
  return {
    ...turn,
    view: applyEvent(turn.view, event),
    events: [...turn.events, event].slice(-MAX_EVENTS),
    times: { ...turn.times, firstMs: turn.times.firstMs ?? atMs },
  };
}

/** Finishes a turn; only the first call has an effect. */
function finishTurn(turn: Turn, state: Turn['state'], atMs: number): Turn {
  return turn.state === 'running' ? { ...turn, state, times: { ...turn.times, finishedMs: atMs } } : turn;
}

/** Changes a turn that received an event; removes one that did not. */
function interruptTurn(turns: Conversation, key: number, change: (turn: Turn) => Turn): Conversation {
  return changeTurn(
    turns.filter((turn) => turn.key !== key || turn.view.id !== undefined),
    key,
    change,
  );
}

function changeTurn(turns: Conversation, key: number, change: (turn: Turn) => Turn): Conversation {
  return turns.map((turn) => (turn.key === key ? change(turn) : turn));
}
