import { useEffect, useReducer, useRef, useState } from 'react';
import type { ServerEvent } from '../../client/event-reader.ts';
import type { ServiceClient } from '../../client/service-client.ts';
import { faultOf, isAbort, ServiceFault, toFault } from '../../client/service-fault.ts';
import { useSession } from '../../client/session.tsx';
import { type Conversation, type ConversationAct, continuedId, conversed, itemsOf } from './conversation.ts';
import { endsResponse } from './response-fold.ts';
import { type AskForm, bodyOf, type FormFaults, fieldOf, type RequestBody } from './response-form.ts';
import type { InputItem, ResponseBody, StreamEvent } from './response-wire.ts';
import { type StoredResponse, storedChain } from './stored-chain.ts';

/** State of the conversation, and its actions. */
export interface Talk {
  readonly turns: Conversation;
  /** Errors of the last request by field. */
  readonly faults: FormFaults;
  /** Error of the last action that does not belong to a field. */
  readonly fault: ServiceFault | undefined;
  readonly isRunning: boolean;
  /** Sends a request. Resolves to true once the response started, to false if the request failed before. */
  ask(form: AskForm, input: string | readonly InputItem[]): Promise<boolean>;
  /** Cancels the response in progress. */
  stop(): void;
  /** Removes this turn and all later ones. */
  cut(key: number): void;
  /** Deletes the stored response of a turn. */
  forget(key: number, id: string): Promise<void>;
  /** Replaces the conversation with a stored response and its predecessors. */
  open(id: string): Promise<void>;
  clear(): void;
}

export function useConversation(): Talk {
  const { client } = useSession();
  const [turns, act] = useReducer(conversed, []);
  const [faults, setFaults] = useState<FormFaults>({});
  const [fault, setFault] = useState<ServiceFault>();
  const [running, setRunning] = useState<AbortController>();
  const lastKey = useRef(0);
  useEffect(() => () => running?.abort(), [running]);

  const nextKey = () => {
    lastKey.current += 1;
    return lastKey.current;
  };

  const ask = async (form: AskForm, input: string | readonly InputItem[]): Promise<boolean> => {
    const made = bodyOf(form, { input, previous: continuedId(turns) });
    setFault(undefined);
    setFaults('faults' in made ? made.faults : {});
    if ('faults' in made) return false;
    const key = nextKey();
    const abort = new AbortController();
    setRunning(abort);
    let began = false;
    const tell = (told: ConversationAct) => {
      began ||= told.kind !== 'asked';
      act(told);
    };
    tell({ kind: 'asked', key, asked: itemsOf(input), body: made.body, atMs: performance.now() });
    try {
      await answer(client, made.body, key, tell, abort.signal);
      return true;
    } catch (error) {
      if (isAbort(error)) {
        act({ kind: 'stopped', key, atMs: performance.now() });
        return began;
      }
      const refused = toFault(error);
      act({ kind: 'refused', key, message: refused.message, atMs: performance.now() });
      const field = fieldOf(refused.param, form);
      if (field === undefined) setFault(refused);
      else setFaults({ [field]: refused.message });
      return began;
    } finally {
      setRunning(undefined);
    }
  };

  return {
    turns,
    faults,
    fault,
    isRunning: running !== undefined,
    ask,
    stop: () => running?.abort(),
    cut: (key) => act({ kind: 'cut', key }),
    forget: async (key, id) => {
      await client.delete(`v1/responses/${encodeURIComponent(id)}`);
      act({ kind: 'deleted', key });
    },
    open: async (id) => {
      const stored = await storedChain((each) => storedResponse(client, each), id);
      act({ kind: 'opened', turns: stored.map((turn) => ({ ...turn, key: nextKey() })) });
    },
    clear: () => {
      running?.abort();
      act({ kind: 'opened', turns: [] });
    },
  };
}

/**
 * Sends the request and dispatches the response as it arrives. @throws ServiceFault, or the reason of the
 * signal.
 */
async function answer(
  client: ServiceClient,
  body: RequestBody,
  key: number,
  act: (act: ConversationAct) => void,
  signal: AbortSignal,
): Promise<void> {
  const now = () => performance.now();
  if (body.stream !== true) {
    const response = await client.post<ResponseBody>('v1/responses', body, { signal });
    return act({ kind: 'answered', key, response, atMs: now() });
  }
  let isWhole = false;
  for await (const each of client.events('v1/responses', body, { signal })) {
    const event = eventOf(each);
    isWhole ||= endsResponse(event);
    act({ kind: 'told', key, event, atMs: now() });
  }
  if (!isWhole)
    throw new ServiceFault('The response was interrupted: its stream ended early.', { status: 0 });
  act({ kind: 'ended', key, atMs: now() });
}

/** @throws ServiceFault for an error event. */
function eventOf({ event, data }: ServerEvent): StreamEvent {
  const value = JSON.parse(data) as StreamEvent;
  if (event === 'error') throw faultOf('error' in value ? value : { error: value }, 0);
  return value;
}

async function storedResponse(client: ServiceClient, id: string): Promise<StoredResponse> {
  const path = `v1/responses/${encodeURIComponent(id)}`;
  const [response, asked] = await Promise.all([
    client.get<ResponseBody>(path),
    client.list<InputItem>(`${path}/input_items`, { query: { order: 'asc', limit: 100 } }),
  ]);
  return { response, asked: asked.data };
}
