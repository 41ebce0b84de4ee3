/**
 * State machine of a response: model output and tool results as server-sent events, in the order that clients
 * accept (spec 6.3; openai-wire 6.10). Pure. The table is docs/states/response-stream.md.
 */

import type { Includable } from '../items/output-items.ts';
import { type ResponseHead, type ResponseObject, responseObject } from '../items/response-object.ts';
import { invalidAction, ResponseReducer } from './reducer.ts';
import type { ResponseAction, ResponseState, Step } from './state.ts';

/** Returns the initial state and the first events of a response. */
export function start(head: ResponseHead, include: readonly Includable[]): Step {
  const reducer = new ResponseReducer({
    head,
    include,
    sequence: 0,
    output: [],
    open: { kind: 'none' },
    sources: [],
    response: undefined,
  });
  const response = responseObject(head, [], { status: 'in_progress' });
  reducer.send('response.created', { response });
  reducer.send('response.in_progress', { response });
  return reducer;
}

/**
 * Returns the next state and the events to send.
 * @throws Error for an invalid action, which means that the engine or the caller violated its contract.
 */
export function next(state: ResponseState, action: ResponseAction): Step {
  const reducer = new ResponseReducer(state);
  if (state.response !== undefined) throw invalidAction(action);
  const { kind } = state.open;
  const inTool = kind === 'tool' || kind === 'running';
  switch (action.kind) {
    case 'tool_started':
      if (kind !== 'tool') throw invalidAction(action);
      reducer.runTool(action.input);
      break;
    case 'tool_finished':
      // A tool that was not started can only fail.
      if (!inTool || (kind === 'tool' && action.result.status !== 'failed')) throw invalidAction(action);
      reducer.endTool(action.result, action.forModel);
      break;
    case 'finished':
      if (inTool && action.reason === 'stop') throw invalidAction(action);
      reducer.end(action);
      break;
    case 'failed':
    case 'disconnected':
      reducer.end(action);
      break;
    default:
      if (inTool) throw invalidAction(action);
      reducer.apply(action);
  }
  return reducer;
}

/** Returns the current response with all data of its items, for the store. */
export function responseOf({ head, output, response }: ResponseState): ResponseObject {
  return response ?? responseObject(head, output, { status: 'in_progress' });
}
