import { useEffect, useReducer, useRef, useState } from 'react';
import type { ServerEvent } from '../../client/event-reader.ts';
import type { ServiceClient } from '../../client/service-client.ts';
import { errorFromBody, isAbort, ServiceError, toServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import {
  type Conversation,
  type ConversationAction,
  continuedId,
  itemsOf,
  reduceConversation,
} from './conversation.ts';
import { endsResponse } from './response-fold.ts';
import { bodyOf, type FormErrors, fieldOf, type RequestBody, type ResponseForm } from './response-form.ts';
import type { InputItem, ResponseBody, StreamEvent } from './response-wire.ts';
import { type StoredResponse, storedChain } from './stored-chain.ts';

/** State of the conversation, and its actions. */
export interface ConversationControl {
  readonly turns: Conversation;
  /** Errors of the last request by field. */
  readonly fieldErrors: FormErrors;
  /** Error of the last action that does not belong to a field. */
  readonly error: ServiceError | undefined;
  readonly isRunning: boolean;
  /** Sends a request. Resolves to true once the response started, to false if the request failed before. */
  send(form: ResponseForm, input: string | readonly InputItem[]): Promise<boolean>;
  /** Cancels the response in progress. */
  stop(): void;
  /** Removes this turn and all later ones. */
  removeFrom(key: number): void;
  /** Deletes the stored response of a turn. */
  deleteStored(key: number, id: string): Promise<void>;
  /** Replaces the conversation with a stored response and its predecessors. */
  open(id: string): Promise<void>;
  clear(): void;
}

export function useConversation(): ConversationControl {
  const { client } = useSession();
  const [turns, dispatch] = useReducer(reduceConversation, []);
  const [fieldErrors, setFieldErrors] = useState<FormErrors>({});
  const [error, setError] = useState<ServiceError>();
  const [running, setRunning] = useState<AbortController>();
  const lastKey = useRef(0);
  useEffect(() => () => running?.abort(), [running]);

  const nextKey = () => {
    lastKey.current += 1;
    return lastKey.current;
  };

  const send = async (form: ResponseForm, input: string | readonly InputItem[]): Promise<boolean> => {
    const created = bodyOf(form, { input, previous: continuedId(turns) });
    setError(undefined);
    setFieldErrors('fieldErrors' in created ? created.fieldErrors : {});
    if ('fieldErrors' in created) return false;
    const key = nextKey();
    const abort = new AbortController();
    setRunning(abort);
    let isStarted = false;
    const dispatchAction = (action: ConversationAction) => {
      isStarted ||= action.kind !== 'requested';
      dispatch(action);
    };
    dispatchAction({
      kind: 'requested',
      key,
      input: itemsOf(input),
      body: created.body,
      atMs: performance.now(),
    });
    try {
      await runRequest(client, created.body, key, dispatchAction, abort.signal);
      return true;
    } catch (thrown) {
      if (isAbort(thrown)) {
        dispatch({ kind: 'stopped', key, atMs: performance.now() });
        return isStarted;
      }
      const error = toServiceError(thrown);
      dispatch({ kind: 'failed', key, message: error.message, atMs: performance.now() });
      const field = fieldOf(error.param, form);
      if (field === undefined) setError(error);
      else setFieldErrors({ [field]: error.message });
      return isStarted;
    } finally {
      setRunning(undefined);
    }
  };

  return {
    turns,
    fieldErrors,
    error,
    isRunning: running !== undefined,
    send,
    stop: () => running?.abort(),
    removeFrom: (key) => dispatch({ kind: 'removed', key }),
    deleteStored: async (key, id) => {
      await client.delete(`v1/responses/${encodeURIComponent(id)}`);
      dispatch({ kind: 'deleted', key });
    },
    open: async (id) => {
      const stored = await storedChain((each) => storedResponse(client, each), id);
      dispatch({ kind: 'opened', turns: stored.map((turn) => ({ ...turn, key: nextKey() })) });
    },
    clear: () => {
      running?.abort();
      dispatch({ kind: 'opened', turns: [] });
    },
  };
}

/**
 * Sends the request and dispatches the response as it arrives. @throws ServiceError, or the reason of the
 * signal.
 */
async function runRequest(
  client: ServiceClient,
  body: RequestBody,
  key: number,
  dispatch: (dispatch: ConversationAction) => void,
  signal: AbortSignal,
): Promise<void> {
  const now = () => performance.now();
  if (body.stream !== true) {
    const response = await client.post<ResponseBody>('v1/responses', body, { signal });
    return dispatch({ kind: 'responded', key, response, atMs: now() });
  }
  let isWhole = false;
  for await (const each of client.events('v1/responses', body, { signal })) {
    const event = eventOf(each);
    isWhole ||= endsResponse(event);
    dispatch({ kind: 'event', key, event, atMs: now() });
  }
  if (!isWhole)
    throw new ServiceError('The response was interrupted: its stream ended early.', { status: 0 });
  dispatch({ kind: 'finished', key, atMs: now() });
}

/** @throws ServiceError for an error event. */
function eventOf({ event, data }: ServerEvent): StreamEvent {
  const value = JSON.parse(data) as StreamEvent;
  if (event === 'error') throw errorFromBody('error' in value ? value : { error: value }, 0);
  return value;
}

async function storedResponse(client: ServiceClient, id: string): Promise<StoredResponse> {
  const path = `v1/responses/${encodeURIComponent(id)}`;
  const [response, input] = await Promise.all([
    client.get<ResponseBody>(path),
    client.list<InputItem>(`${path}/input_items`, { query: { order: 'asc', limit: 100 } }),
  ]);
  return { response, input: input.data };
}
