/**
 * One response as it comes, pure: what the model says and what tools give, as events in the only order that
 * clients accept (spec 6.3; openai-wire 6.10). The table is docs/states/response-stream.md.
 */

import type { Includable } from '../items/output-items.ts';
import { type ResponseHead, type ResponseObject, responseObject } from '../items/response-object.ts';
import { Draft, impossible } from './reducer.ts';
import type { ResponseFact, ResponseState, Step } from './state.ts';

/** The first events of a response. */
export function begin(head: ResponseHead, include: readonly Includable[]): Step {
  const draft = new Draft({
    head,
    include,
    sequence: 0,
    output: [],
    open: { kind: 'none' },
    sources: [],
    response: undefined,
  });
  const response = responseObject(head, [], { status: 'in_progress' });
  draft.send('response.created', { response });
  draft.send('response.in_progress', { response });
  return draft;
}

/**
 * The next state and what is sent.
 * @throws Error for a fact that cannot be: the engine or the caller broke its contract.
 */
export function next(state: ResponseState, fact: ResponseFact): Step {
  const draft = new Draft(state);
  if (state.response !== undefined) throw impossible(fact);
  const { kind } = state.open;
  const inTool = kind === 'tool' || kind === 'running';
  switch (fact.kind) {
    case 'tool_begun':
      if (kind !== 'tool') throw impossible(fact);
      draft.runTool(fact.input);
      break;
    case 'tool_ended':
      // What never ran cannot have given anything.
      if (!inTool || (kind === 'tool' && fact.result.status !== 'failed')) throw impossible(fact);
      draft.endTool(fact.result, fact.forModel);
      break;
    case 'ended':
      if (inTool && fact.reason === 'stop') throw impossible(fact);
      draft.end(fact);
      break;
    case 'failed':
    case 'left':
      draft.end(fact);
      break;
    default:
      if (inTool) throw impossible(fact);
      draft.take(fact);
  }
  return draft;
}

/** The response as far as it has come, for the store: with all that its items hold. */
export function responseOf({ head, output, response }: ResponseState): ResponseObject {
  return response ?? responseObject(head, output, { status: 'in_progress' });
}
